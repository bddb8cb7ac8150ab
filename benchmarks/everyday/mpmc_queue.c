/* A bounded queue for several producers and consumers: a ring behind a mutex, with one condition
 * variable for "not empty" and one for "not full".
 *
 * The mistake: queue_take waits with `if` instead of `while`. A consumer that was woken may find
 * that another one has been faster (or may have woken up for no reason), and takes from an empty
 * queue.
 * Violates: assertions.
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef ITEMS
#define ITEMS 20 /* of each producer, and for each consumer */
#endif
#ifndef CAPACITY
#define CAPACITY 4
#endif
#ifndef PAIRS
#define PAIRS 2 /* producers, and as many consumers */
#endif

struct queue {
  pthread_mutex_t lock;
  pthread_cond_t not_empty, not_full;
  int capacity, first, length;
  int items[];
};

struct consumer {
  struct queue *queue;
  long sum;
};

static void check(int error, const char *what) {
  if (error != 0) {
    fprintf(stderr, "%s: %s\n", what, strerror(error));
    exit(EXIT_FAILURE);
  }
}

static struct queue *queue_create(int capacity) {
  struct queue *queue = malloc(sizeof *queue + (size_t)capacity * sizeof queue->items[0]);
  if (queue == NULL) {
    perror("malloc");
    exit(EXIT_FAILURE);
  }
  check(pthread_mutex_init(&queue->lock, NULL), "pthread_mutex_init");
  check(pthread_cond_init(&queue->not_empty, NULL), "pthread_cond_init");
  check(pthread_cond_init(&queue->not_full, NULL), "pthread_cond_init");
  queue->capacity = capacity;
  queue->first = 0;
  queue->length = 0;
  return queue;
}

static void queue_destroy(struct queue *queue) {
  assert(queue->length == 0);
  pthread_cond_destroy(&queue->not_full);
  pthread_cond_destroy(&queue->not_empty);
  pthread_mutex_destroy(&queue->lock);
  free(queue);
}

static void queue_put(struct queue *queue, int item) {
  pthread_mutex_lock(&queue->lock);
  while (queue->length == queue->capacity)
    pthread_cond_wait(&queue->not_full, &queue->lock);
  assert(queue->length < queue->capacity);
  queue->items[(queue->first + queue->length) % queue->capacity] = item;
  queue->length++;
  pthread_cond_signal(&queue->not_empty);
  pthread_mutex_unlock(&queue->lock);
}

static int queue_take(struct queue *queue) {
  pthread_mutex_lock(&queue->lock);
#ifdef BROKEN
  if (queue->length == 0)
#else
  while (queue->length == 0)
#endif
    pthread_cond_wait(&queue->not_empty, &queue->lock);
  assert(queue->length > 0);
  int item = queue->items[queue->first];
  queue->first = (queue->first + 1) % queue->capacity;
  queue->length--;
  pthread_cond_signal(&queue->not_full);
  pthread_mutex_unlock(&queue->lock);
  return item;
}

static void *produce(void *argument) {
  struct queue *queue = argument;
  for (int item = 1; item <= ITEMS; item++)
    queue_put(queue, item);
  return NULL;
}

static void *consume(void *argument) {
  struct consumer *consumer = argument;
  for (int i = 0; i < ITEMS; i++) {
    int item = queue_take(consumer->queue);
    assert(item >= 1 && item <= ITEMS);
    consumer->sum += item;
  }
  return NULL;
}

int main(void) {
  pthread_t producing[PAIRS], consuming[PAIRS];
  struct consumer consumers[PAIRS];
  struct queue *queue = queue_create(CAPACITY);
  for (int i = 0; i < PAIRS; i++) {
    consumers[i] = (struct consumer){.queue = queue, .sum = 0};
    check(pthread_create(&producing[i], NULL, produce, queue), "pthread_create");
    check(pthread_create(&consuming[i], NULL, consume, &consumers[i]), "pthread_create");
  }
  long sum = 0;
  for (int i = 0; i < PAIRS; i++) {
    check(pthread_join(producing[i], NULL), "pthread_join");
    check(pthread_join(consuming[i], NULL), "pthread_join");
    sum += consumers[i].sum;
  }
  assert(sum == (long)PAIRS * ITEMS * (ITEMS + 1) / 2);
  queue_destroy(queue);
  return 0;
}
