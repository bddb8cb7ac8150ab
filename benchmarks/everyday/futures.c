/* Futures: workers compute values and set one future for each; the initial thread gets the values in
 * order, and frees each future as soon as it has its value.
 *
 * The mistake: future_set signals after it has unlocked the mutex. Between the two the initial
 * thread may get the value and free the future.
 * Violates: valid-memsafety.
 */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef ITEMS
#define ITEMS 20 /* futures */
#endif
#ifndef WORKERS
#define WORKERS 2
#endif

struct future {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  bool is_set;
  int value;
};

struct worker {
  pthread_t thread;
  int first; /* and every WORKERS-th after it */
  struct future **futures;
};

static void check(int error, const char *what) {
  if (error != 0) {
    fprintf(stderr, "%s: %s\n", what, strerror(error));
    exit(EXIT_FAILURE);
  }
}

static struct future *future_create(void) {
  struct future *future = malloc(sizeof *future);
  if (future == NULL) {
    perror("malloc");
    exit(EXIT_FAILURE);
  }
  check(pthread_mutex_init(&future->lock, NULL), "pthread_mutex_init");
  check(pthread_cond_init(&future->changed, NULL), "pthread_cond_init");
  future->is_set = false;
  future->value = 0;
  return future;
}

static void future_set(struct future *future, int value) {
  pthread_mutex_lock(&future->lock);
  assert(!future->is_set);
  future->value = value;
  future->is_set = true;
#ifdef BROKEN
  pthread_mutex_unlock(&future->lock);
  pthread_cond_signal(&future->changed);
#else
  pthread_cond_signal(&future->changed);
  pthread_mutex_unlock(&future->lock);
#endif
}

/* Waits for the value, and frees the future. */
static int future_get(struct future *future) {
  pthread_mutex_lock(&future->lock);
  while (!future->is_set)
    pthread_cond_wait(&future->changed, &future->lock);
  int value = future->value;
  pthread_mutex_unlock(&future->lock);
  pthread_cond_destroy(&future->changed);
  pthread_mutex_destroy(&future->lock);
  free(future);
  return value;
}

static int compute(int input) {
  int steps = 0;
  for (int n = input + 1; n > 1; steps++)
    n = n % 2 == 0 ? n / 2 : n - 1;
  return steps;
}

static void *work(void *argument) {
  struct worker *worker = argument;
  for (int i = worker->first; i < ITEMS; i += WORKERS)
    future_set(worker->futures[i], compute(i));
  return NULL;
}

int main(void) {
  struct worker workers[WORKERS];
  struct future **futures = malloc(ITEMS * sizeof *futures);
  if (futures == NULL) {
    perror("malloc");
    exit(EXIT_FAILURE);
  }
  for (int i = 0; i < ITEMS; i++)
    futures[i] = future_create();
  for (int i = 0; i < WORKERS; i++) {
    workers[i].first = i;
    workers[i].futures = futures;
    check(pthread_create(&workers[i].thread, NULL, work, &workers[i]), "pthread_create");
  }
  for (int i = 0; i < ITEMS; i++) {
    int value = future_get(futures[i]);
    assert(value == compute(i));
  }
  for (int i = 0; i < WORKERS; i++)
    check(pthread_join(workers[i].thread, NULL), "pthread_join");
  free(futures);
  return 0;
}
