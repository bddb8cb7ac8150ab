/* Dining philosophers: each one needs the forks on both sides to eat. All take the fork with the
 * smaller number first.
 *
 * The mistake: all take the fork on their left first. When each one has it, all wait for the right
 * one.
 * Violates: no-deadlock.
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef ITEMS
#define ITEMS 10 /* meals of each philosopher */
#endif
#ifndef WORKERS
#define WORKERS 4 /* philosophers */
#endif

enum { NOBODY = -1 };

struct fork {
  pthread_mutex_t lock;
  int holder;
};

struct philosopher {
  pthread_t thread;
  int number;
  int meals;
  struct fork *left, *right;
};

static void check(int error, const char *what) {
  if (error != 0) {
    fprintf(stderr, "%s: %s\n", what, strerror(error));
    exit(EXIT_FAILURE);
  }
}

static void take(struct fork *fork, int philosopher) {
  pthread_mutex_lock(&fork->lock);
  assert(fork->holder == NOBODY);
  fork->holder = philosopher;
}

static void put_down(struct fork *fork, int philosopher) {
  assert(fork->holder == philosopher);
  fork->holder = NOBODY;
  pthread_mutex_unlock(&fork->lock);
}

static void eat(struct philosopher *philosopher) {
  assert(philosopher->left->holder == philosopher->number);
  assert(philosopher->right->holder == philosopher->number);
  philosopher->meals++;
}

static void *dine(void *argument) {
  struct philosopher *self = argument;
  struct fork *first = self->left, *second = self->right;
#ifndef BROKEN
  if (first > second) { /* all forks are in one array */
    first = self->right;
    second = self->left;
  }
#endif
  for (int i = 0; i < ITEMS; i++) {
    take(first, self->number);
    take(second, self->number);
    eat(self);
    put_down(second, self->number);
    put_down(first, self->number);
  }
  return NULL;
}

int main(void) {
  struct fork *forks = malloc(WORKERS * sizeof *forks);
  struct philosopher *philosophers = malloc(WORKERS * sizeof *philosophers);
  if (forks == NULL || philosophers == NULL) {
    perror("malloc");
    exit(EXIT_FAILURE);
  }
  for (int i = 0; i < WORKERS; i++) {
    check(pthread_mutex_init(&forks[i].lock, NULL), "pthread_mutex_init");
    forks[i].holder = NOBODY;
  }
  for (int i = 0; i < WORKERS; i++) {
    struct philosopher *philosopher = &philosophers[i];
    philosopher->number = i;
    philosopher->meals = 0;
    philosopher->left = &forks[i];
    philosopher->right = &forks[(i + 1) % WORKERS];
    check(pthread_create(&philosopher->thread, NULL, dine, philosopher), "pthread_create");
  }
  for (int i = 0; i < WORKERS; i++) {
    check(pthread_join(philosophers[i].thread, NULL), "pthread_join");
    assert(philosophers[i].meals == ITEMS);
  }
  for (int i = 0; i < WORKERS; i++) {
    assert(forks[i].holder == NOBODY);
    pthread_mutex_destroy(&forks[i].lock);
  }
  free(philosophers);
  free(forks);
  return 0;
}
