/* A connection limiter: at most LIMIT connections are open at a time, others wait; and when QUOTA
 * connections were served, the server is full and refuses all that follow.
 *
 * The mistake: when a connection is refused, limiter_enter returns without unlocking the mutex.
 * Violates: no-deadlock.
 */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef ITEMS
#define ITEMS 20 /* attempts of each client */
#endif
#ifndef WORKERS
#define WORKERS 4 /* clients */
#endif
#define LIMIT 2
#define QUOTA (WORKERS * ITEMS / 2)

struct limiter {
  pthread_mutex_t lock;
  pthread_cond_t has_room;
  int open, served, refused;
};

struct client {
  pthread_t thread;
  int served, refused;
};

static struct limiter limiter = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .has_room = PTHREAD_COND_INITIALIZER,
};

static void check(int error, const char *what) {
  if (error != 0) {
    fprintf(stderr, "%s: %s\n", what, strerror(error));
    exit(EXIT_FAILURE);
  }
}

/* Whether the connection may be opened. */
static bool limiter_enter(struct limiter *gate) {
  check(pthread_mutex_lock(&gate->lock), "pthread_mutex_lock");
  while (gate->open == LIMIT)
    check(pthread_cond_wait(&gate->has_room, &gate->lock), "pthread_cond_wait");
  if (gate->served == QUOTA) {
    gate->refused++;
    /* This client has no connection to close, which would wake the next one. */
    check(pthread_cond_signal(&gate->has_room), "pthread_cond_signal");
#ifndef BROKEN
    check(pthread_mutex_unlock(&gate->lock), "pthread_mutex_unlock");
#endif
    return false;
  }
  gate->served++;
  gate->open++;
  assert(gate->open >= 1 && gate->open <= LIMIT);
  check(pthread_mutex_unlock(&gate->lock), "pthread_mutex_unlock");
  return true;
}

static void limiter_leave(struct limiter *gate) {
  check(pthread_mutex_lock(&gate->lock), "pthread_mutex_lock");
  assert(gate->open >= 1 && gate->open <= LIMIT);
  gate->open--;
  check(pthread_cond_signal(&gate->has_room), "pthread_cond_signal");
  check(pthread_mutex_unlock(&gate->lock), "pthread_mutex_unlock");
}

static void *connect_often(void *argument) {
  struct client *client = argument;
  for (int i = 0; i < ITEMS; i++) {
    if (!limiter_enter(&limiter)) {
      client->refused++;
      continue;
    }
    client->served++;
    limiter_leave(&limiter);
  }
  return NULL;
}

int main(void) {
  struct client clients[WORKERS];
  for (int i = 0; i < WORKERS; i++) {
    clients[i].served = clients[i].refused = 0;
    check(pthread_create(&clients[i].thread, NULL, connect_often, &clients[i]), "pthread_create");
  }
  int served = 0, refused = 0;
  for (int i = 0; i < WORKERS; i++) {
    check(pthread_join(clients[i].thread, NULL), "pthread_join");
    assert(clients[i].served + clients[i].refused == ITEMS);
    served += clients[i].served;
    refused += clients[i].refused;
  }
  assert(limiter.open == 0);
  assert(served == QUOTA && served == limiter.served);
  assert(refused == WORKERS * ITEMS - QUOTA && refused == limiter.refused);
  return 0;
}
