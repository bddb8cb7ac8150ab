/* Work stealing: each worker has a deque of tasks and takes from its bottom; when that is empty it
 * steals from the top of the others'. All tasks are in the first deque to begin with, and a task may
 * put another one into the deque of the worker that runs it.
 *
 * The mistake: a thief looks whether there is a task in one critical section and takes it in
 * another one, when it may be gone.
 * Violates: assertions.
 */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef ITEMS
#define ITEMS 20 /* tasks at the beginning */
#endif
#ifndef WORKERS
#define WORKERS 3
#endif
#define TASKS (2 * ITEMS) /* each one makes another one */

struct deque {
  pthread_mutex_t lock;
  int top, bottom; /* the tasks between are not done yet */
  int tasks[TASKS];
};

struct worker {
  pthread_t thread;
  int number;
  int done;
  struct deque *deques; /* of all workers */
  int *results;
};

static void check(int error, const char *what) {
  if (error != 0) {
    fprintf(stderr, "%s: %s\n", what, strerror(error));
    exit(EXIT_FAILURE);
  }
}

static void deque_push(struct deque *deque, int task) {
  pthread_mutex_lock(&deque->lock);
  assert(deque->bottom < TASKS);
  deque->tasks[deque->bottom++] = task;
  pthread_mutex_unlock(&deque->lock);
}

static bool deque_pop(struct deque *deque, int *task) {
  pthread_mutex_lock(&deque->lock);
  bool is_found = deque->top < deque->bottom;
  if (is_found)
    *task = deque->tasks[--deque->bottom];
  pthread_mutex_unlock(&deque->lock);
  return is_found;
}

static bool deque_steal(struct deque *deque, int *task) {
  pthread_mutex_lock(&deque->lock);
  bool is_found = deque->top < deque->bottom;
#ifdef BROKEN
  pthread_mutex_unlock(&deque->lock);
  if (!is_found)
    return false;
  pthread_mutex_lock(&deque->lock);
#endif
  if (is_found) {
    assert(deque->top < deque->bottom);
    *task = deque->tasks[deque->top++];
  }
  pthread_mutex_unlock(&deque->lock);
  return is_found;
}

/* Only the owner of a deque puts tasks into it, and it stays until there is none left: when nothing
 * is found anywhere, what is left is being done by others. */
static bool next_task(struct worker *worker, int *task) {
  if (deque_pop(&worker->deques[worker->number], task))
    return true;
  for (int i = 1; i < WORKERS; i++)
    if (deque_steal(&worker->deques[(worker->number + i) % WORKERS], task))
      return true;
  return false;
}

static void *work(void *argument) {
  struct worker *worker = argument;
  int task;
  while (next_task(worker, &task)) {
    worker->results[task] += task + 1;
    worker->done++;
    if (task < ITEMS)
      deque_push(&worker->deques[worker->number], task + ITEMS);
  }
  return NULL;
}

int main(void) {
  struct worker workers[WORKERS];
  int *results = calloc(TASKS, sizeof *results);
  struct deque *deques = calloc(WORKERS, sizeof *deques);
  if (results == NULL || deques == NULL) {
    perror("calloc");
    exit(EXIT_FAILURE);
  }
  for (int i = 0; i < WORKERS; i++)
    check(pthread_mutex_init(&deques[i].lock, NULL), "pthread_mutex_init");
  for (int task = 0; task < ITEMS; task++)
    deque_push(&deques[0], task);
  for (int i = 0; i < WORKERS; i++) {
    workers[i].number = i;
    workers[i].done = 0;
    workers[i].deques = deques;
    workers[i].results = results;
    check(pthread_create(&workers[i].thread, NULL, work, &workers[i]), "pthread_create");
  }
  int done = 0;
  for (int i = 0; i < WORKERS; i++) {
    check(pthread_join(workers[i].thread, NULL), "pthread_join");
    done += workers[i].done;
  }
  assert(done == TASKS);
  for (int task = 0; task < TASKS; task++)
    assert(results[task] == task + 1); /* each one was done once */
  for (int i = 0; i < WORKERS; i++)
    pthread_mutex_destroy(&deques[i].lock);
  free(deques);
  free(results);
  return 0;
}
