/* A timer wheel: clients arm timers that are due in a few ticks; a thread turns the wheel while
 * timers are armed, and calls the functions of those that are due. Such a function may arm its timer
 * again.
 *
 * The mistake: the functions are called while the wheel is locked. Arming a timer again locks it
 * once more, and the thread waits for itself.
 * Violates: no-deadlock.
 */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef ITEMS
#define ITEMS 12 /* timers of each client */
#endif
#ifndef WORKERS
#define WORKERS 2 /* clients */
#endif
#define SLOTS 4

struct wheel;

struct timer {
  void (*fire)(struct wheel *, struct timer *);
  int due;
  int repeats; /* how often it will be armed again */
  struct timer *next;
};

struct wheel {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  struct timer *slots[SLOTS];
  int now;
  int armed;
  bool is_closed;
  int fired; /* only for the thread that turns the wheel */
};

static void check(int error, const char *what) {
  if (error != 0) {
    fprintf(stderr, "%s: %s\n", what, strerror(error));
    exit(EXIT_FAILURE);
  }
}

static void wheel_arm(struct wheel *wheel, struct timer *timer, int delay) {
  assert(delay > 0 && delay < SLOTS);
  pthread_mutex_lock(&wheel->lock);
  timer->due = wheel->now + delay;
  timer->next = wheel->slots[timer->due % SLOTS];
  wheel->slots[timer->due % SLOTS] = timer;
  wheel->armed++;
  pthread_cond_signal(&wheel->changed);
  pthread_mutex_unlock(&wheel->lock);
}

static void fire_all(struct wheel *wheel, struct timer *timer) {
  while (timer != NULL) {
    struct timer *next = timer->next;
    assert(timer->due == wheel->now); /* only this thread changes the time */
    wheel->fired++;
    timer->fire(wheel, timer);
    timer = next;
  }
}

static void *turn(void *argument) {
  struct wheel *wheel = argument;
  pthread_mutex_lock(&wheel->lock);
  for (;;) {
    while (wheel->armed == 0 && !wheel->is_closed)
      pthread_cond_wait(&wheel->changed, &wheel->lock);
    if (wheel->armed == 0)
      break;
    wheel->now++;
    struct timer *due = wheel->slots[wheel->now % SLOTS];
    wheel->slots[wheel->now % SLOTS] = NULL;
    for (struct timer *timer = due; timer != NULL; timer = timer->next)
      wheel->armed--;
#ifdef BROKEN
    fire_all(wheel, due);
#else
    pthread_mutex_unlock(&wheel->lock);
    fire_all(wheel, due);
    pthread_mutex_lock(&wheel->lock);
#endif
  }
  pthread_mutex_unlock(&wheel->lock);
  return NULL;
}

static void fire(struct wheel *wheel, struct timer *timer) {
  if (timer->repeats > 0) {
    timer->repeats--;
    wheel_arm(wheel, timer, 1);
  } else {
    free(timer);
  }
}

static void *arm_timers(void *argument) {
  struct wheel *wheel = argument;
  for (int i = 0; i < ITEMS; i++) {
    struct timer *timer = malloc(sizeof *timer);
    if (timer == NULL) {
      perror("malloc");
      exit(EXIT_FAILURE);
    }
    timer->fire = fire;
    timer->repeats = (i + 1) % 2; /* of every other one, the first included */
    wheel_arm(wheel, timer, 1 + i % (SLOTS - 1));
  }
  return NULL;
}

int main(void) {
  struct wheel wheel = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
  pthread_t turning, clients[WORKERS];
  check(pthread_create(&turning, NULL, turn, &wheel), "pthread_create");
  for (int i = 0; i < WORKERS; i++)
    check(pthread_create(&clients[i], NULL, arm_timers, &wheel), "pthread_create");
  for (int i = 0; i < WORKERS; i++)
    check(pthread_join(clients[i], NULL), "pthread_join");
  pthread_mutex_lock(&wheel.lock);
  wheel.is_closed = true;
  pthread_cond_signal(&wheel.changed);
  pthread_mutex_unlock(&wheel.lock);
  check(pthread_join(turning, NULL), "pthread_join");
  assert(wheel.armed == 0);
  assert(wheel.fired == WORKERS * (ITEMS + (ITEMS + 1) / 2));
  pthread_cond_destroy(&wheel.changed);
  pthread_mutex_destroy(&wheel.lock);
  return 0;
}
