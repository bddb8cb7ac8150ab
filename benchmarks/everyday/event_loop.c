/* An event loop: a thread handles events that others post, sleeps on a condition variable when there
 * are none, and leaves when a flag tells it to stop and all events are handled.
 *
 * The mistake: loop_stop sets the flag and signals without the mutex. If the loop has just seen that
 * the flag is not set and is about to sleep, the signal is lost and it sleeps for ever.
 * Violates: no-deadlock.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef ITEMS
#define ITEMS 20 /* events of each sender */
#endif
#ifndef WORKERS
#define WORKERS 2 /* senders */
#endif

struct event {
  int sender, number;
  struct event *next;
};

struct loop {
  pthread_mutex_t lock;
  pthread_cond_t wake;
  struct event *first, **end;
  atomic_bool is_stopped;
  int handled[WORKERS]; /* only for the loop's thread */
};

struct sender {
  pthread_t thread;
  int name;
  struct loop *loop;
};

static void check(int error, const char *what) {
  if (error != 0) {
    fprintf(stderr, "%s: %s\n", what, strerror(error));
    exit(EXIT_FAILURE);
  }
}

static void loop_post(struct loop *loop, int sender, int number) {
  struct event *event = malloc(sizeof *event);
  if (event == NULL) {
    perror("malloc");
    exit(EXIT_FAILURE);
  }
  *event = (struct event){.sender = sender, .number = number, .next = NULL};
  pthread_mutex_lock(&loop->lock);
  *loop->end = event;
  loop->end = &event->next;
  pthread_cond_signal(&loop->wake);
  pthread_mutex_unlock(&loop->lock);
}

static void loop_stop(struct loop *loop) {
#ifndef BROKEN
  pthread_mutex_lock(&loop->lock);
#endif
  atomic_store(&loop->is_stopped, true);
  pthread_cond_signal(&loop->wake);
#ifndef BROKEN
  pthread_mutex_unlock(&loop->lock);
#endif
}

/* All events that are there, as a list; NULL when the loop should end. */
static struct event *loop_next(struct loop *loop) {
  pthread_mutex_lock(&loop->lock);
  while (loop->first == NULL && !atomic_load(&loop->is_stopped))
    pthread_cond_wait(&loop->wake, &loop->lock);
  struct event *events = loop->first;
  loop->first = NULL;
  loop->end = &loop->first;
  pthread_mutex_unlock(&loop->lock);
  return events;
}

static void *loop_run(void *argument) {
  struct loop *loop = argument;
  struct event *events;
  while ((events = loop_next(loop)) != NULL) {
    while (events != NULL) {
      struct event *event = events;
      events = event->next;
      assert(event->number == loop->handled[event->sender]); /* in order */
      loop->handled[event->sender]++;
      free(event);
    }
  }
  return NULL;
}

static void *send_events(void *argument) {
  struct sender *sender = argument;
  for (int i = 0; i < ITEMS; i++)
    loop_post(sender->loop, sender->name, i);
  return NULL;
}

int main(void) {
  struct loop loop = {
      .lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER, .first = NULL};
  struct sender senders[WORKERS];
  pthread_t looping;
  loop.end = &loop.first;
  check(pthread_create(&looping, NULL, loop_run, &loop), "pthread_create");
  for (int i = 0; i < WORKERS; i++) {
    senders[i].name = i;
    senders[i].loop = &loop;
    check(pthread_create(&senders[i].thread, NULL, send_events, &senders[i]), "pthread_create");
  }
  for (int i = 0; i < WORKERS; i++)
    check(pthread_join(senders[i].thread, NULL), "pthread_join");
  loop_stop(&loop);
  check(pthread_join(looping, NULL), "pthread_join");
  for (int i = 0; i < WORKERS; i++)
    assert(loop.handled[i] == ITEMS);
  pthread_cond_destroy(&loop.wake);
  pthread_mutex_destroy(&loop.lock);
  return 0;
}
