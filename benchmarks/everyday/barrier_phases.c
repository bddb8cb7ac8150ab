/* A simulation in rounds: the cells of a ring are divided among the workers. In each round a worker
 * computes its new cells from its old ones and its neighbours', waits until all have read, stores
 * the new ones, and waits until all have stored.
 *
 * The mistake: the second barrier is missing, so a fast worker reads its neighbours' cells for the
 * next round while they are being stored.
 * Violates: no-data-race; and assertions, since old cells are used (with ITEMS of 2 or more).
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef ITEMS
#define ITEMS 20 /* rounds */
#endif
#ifndef WORKERS
#define WORKERS 3
#endif
#define SLICE 2 /* cells of each worker */
#define CELLS (WORKERS * SLICE)

struct simulation {
  pthread_barrier_t barrier;
  unsigned cells[CELLS];
};

struct worker {
  pthread_t thread;
  struct simulation *simulation;
  int first; /* of its cells */
};

static void check(int error, const char *what) {
  if (error != 0) {
    fprintf(stderr, "%s: %s\n", what, strerror(error));
    exit(EXIT_FAILURE);
  }
}

static void wait_for_all(struct simulation *simulation) {
  int result = pthread_barrier_wait(&simulation->barrier);
  if (result != PTHREAD_BARRIER_SERIAL_THREAD)
    check(result, "pthread_barrier_wait");
}

/* What becomes of a cell; unsigned numbers wrap. */
static unsigned evolve(const unsigned *cells, int cell) {
  unsigned left = cells[(cell + CELLS - 1) % CELLS];
  unsigned right = cells[(cell + 1) % CELLS];
  return left + 2 * cells[cell] + right;
}

static void *work(void *argument) {
  struct worker *worker = argument;
  struct simulation *simulation = worker->simulation;
  unsigned fresh[SLICE];
  for (int round = 0; round < ITEMS; round++) {
    for (int i = 0; i < SLICE; i++)
      fresh[i] = evolve(simulation->cells, worker->first + i);
    wait_for_all(simulation);
    for (int i = 0; i < SLICE; i++)
      simulation->cells[worker->first + i] = fresh[i];
#ifndef BROKEN
    wait_for_all(simulation);
#endif
  }
  return NULL;
}

/* The same by one thread. */
static void simulate(unsigned *cells) {
  unsigned fresh[CELLS];
  for (int round = 0; round < ITEMS; round++) {
    for (int i = 0; i < CELLS; i++)
      fresh[i] = evolve(cells, i);
    memcpy(cells, fresh, sizeof fresh);
  }
}

int main(void) {
  struct simulation simulation;
  struct worker workers[WORKERS];
  unsigned expected[CELLS];
  for (int i = 0; i < CELLS; i++)
    simulation.cells[i] = expected[i] = (unsigned)(i + 1);
  check(pthread_barrier_init(&simulation.barrier, NULL, WORKERS), "pthread_barrier_init");
  for (int i = 0; i < WORKERS; i++) {
    workers[i].simulation = &simulation;
    workers[i].first = i * SLICE;
    check(pthread_create(&workers[i].thread, NULL, work, &workers[i]), "pthread_create");
  }
  for (int i = 0; i < WORKERS; i++)
    check(pthread_join(workers[i].thread, NULL), "pthread_join");
  check(pthread_barrier_destroy(&simulation.barrier), "pthread_barrier_destroy");
  simulate(expected);
  for (int i = 0; i < CELLS; i++)
    assert(simulation.cells[i] == expected[i]);
  return 0;
}
