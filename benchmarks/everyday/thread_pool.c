/* A thread pool: workers run jobs from a linked list until the pool is shut down and the list is
 * empty. Shutting down runs what is left, joins the workers and frees the pool.
 *
 * The mistake: shutting down signals the condition variable instead of broadcasting it. One worker
 * wakes up and leaves, the others wait for ever, and so does the join.
 * Violates: no-deadlock.
 */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef ITEMS
#define ITEMS 20
#endif
#ifndef WORKERS
#define WORKERS 3
#endif

struct job {
  void (*run)(void *);
  void *argument;
  struct job *next;
};

struct pool {
  pthread_mutex_t lock;
  pthread_cond_t wake; /* there is a job, or the pool is stopping */
  struct job *first, *last;
  bool is_stopping;
  int finished;
  pthread_t workers[WORKERS];
};

static void check(int error, const char *what) {
  if (error != 0) {
    fprintf(stderr, "%s: %s\n", what, strerror(error));
    exit(EXIT_FAILURE);
  }
}

/* The next job, or NULL when the pool is stopping and no job is left. */
static struct job *pool_next(struct pool *pool) {
  pthread_mutex_lock(&pool->lock);
  while (pool->first == NULL && !pool->is_stopping)
    pthread_cond_wait(&pool->wake, &pool->lock);
  struct job *job = pool->first;
  if (job != NULL) {
    pool->first = job->next;
    if (pool->first == NULL)
      pool->last = NULL;
  }
  pthread_mutex_unlock(&pool->lock);
  return job;
}

static void *work(void *argument) {
  struct pool *pool = argument;
  struct job *job;
  while ((job = pool_next(pool)) != NULL) {
    job->run(job->argument);
    free(job);
    pthread_mutex_lock(&pool->lock);
    pool->finished++;
    pthread_mutex_unlock(&pool->lock);
  }
  return NULL;
}

static struct pool *pool_create(void) {
  struct pool *pool = calloc(1, sizeof *pool);
  if (pool == NULL) {
    perror("calloc");
    exit(EXIT_FAILURE);
  }
  check(pthread_mutex_init(&pool->lock, NULL), "pthread_mutex_init");
  check(pthread_cond_init(&pool->wake, NULL), "pthread_cond_init");
  for (int i = 0; i < WORKERS; i++)
    check(pthread_create(&pool->workers[i], NULL, work, pool), "pthread_create");
  return pool;
}

static void pool_submit(struct pool *pool, void (*run)(void *), void *argument) {
  struct job *job = malloc(sizeof *job);
  if (job == NULL) {
    perror("malloc");
    exit(EXIT_FAILURE);
  }
  *job = (struct job){.run = run, .argument = argument, .next = NULL};
  pthread_mutex_lock(&pool->lock);
  if (pool->last == NULL)
    pool->first = job;
  else
    pool->last->next = job;
  pool->last = job;
  pthread_cond_signal(&pool->wake);
  pthread_mutex_unlock(&pool->lock);
}

/* How many jobs were run. */
static int pool_shutdown(struct pool *pool) {
  pthread_mutex_lock(&pool->lock);
  pool->is_stopping = true;
#ifdef BROKEN
  pthread_cond_signal(&pool->wake);
#else
  pthread_cond_broadcast(&pool->wake);
#endif
  pthread_mutex_unlock(&pool->lock);
  for (int i = 0; i < WORKERS; i++)
    check(pthread_join(pool->workers[i], NULL), "pthread_join");
  int finished = pool->finished;
  pthread_cond_destroy(&pool->wake);
  pthread_mutex_destroy(&pool->lock);
  free(pool);
  return finished;
}

static void square(void *argument) {
  int *number = argument;
  *number *= *number;
}

int main(void) {
  int numbers[ITEMS];
  struct pool *pool = pool_create();
  for (int i = 0; i < ITEMS; i++) {
    numbers[i] = i;
    pool_submit(pool, square, &numbers[i]);
  }
  int finished = pool_shutdown(pool);
  assert(finished == ITEMS);
  for (int i = 0; i < ITEMS; i++)
    assert(numbers[i] == i * i);
  return 0;
}
