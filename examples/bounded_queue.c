/* A queue of fixed capacity between a producer and a consumer: one mutex, two condition variables.
 *
 *     plait explore --property assertions --property no-deadlock examples/bounded_queue.c
 *         VERDICT: true   (items arrive in order, nobody waits for ever)
 *     plait explore -DIF_INSTEAD_OF_WHILE examples/bounded_queue.c
 *         VERDICT: false (assertions)   (a spurious wake-up finds the queue still empty or full)
 *     plait explore -DIF_INSTEAD_OF_WHILE --no-spurious-wakeups examples/bounded_queue.c
 *         VERDICT: true   (but POSIX allows spurious wake-ups)
 */
#include <assert.h>
#include <pthread.h>

enum { CAPACITY = 1, ITEMS = 2 };

#ifdef IF_INSTEAD_OF_WHILE
#define UNTIL(condition) if (!(condition))
#else
#define UNTIL(condition) while (!(condition))
#endif

struct queue {
  pthread_mutex_t lock;
  pthread_cond_t not_empty, not_full;
  int items[CAPACITY];
  int first, length;
};

struct queue queue = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .not_empty = PTHREAD_COND_INITIALIZER,
    .not_full = PTHREAD_COND_INITIALIZER,
};

static void put(struct queue *q, int item) {
  pthread_mutex_lock(&q->lock);
  UNTIL(q->length < CAPACITY) pthread_cond_wait(&q->not_full, &q->lock);
  assert(q->length < CAPACITY);
  q->items[(q->first + q->length) % CAPACITY] = item;
  q->length++;
  pthread_cond_signal(&q->not_empty);
  pthread_mutex_unlock(&q->lock);
}

static int take(struct queue *q) {
  pthread_mutex_lock(&q->lock);
  UNTIL(q->length > 0) pthread_cond_wait(&q->not_empty, &q->lock);
  assert(q->length > 0);
  int item = q->items[q->first];
  q->first = (q->first + 1) % CAPACITY;
  q->length--;
  pthread_cond_signal(&q->not_full);
  pthread_mutex_unlock(&q->lock);
  return item;
}

void *produce(void *unused) {
  for (int item = 1; item <= ITEMS; item++)
    put(&queue, item);
  return 0;
}

void *consume(void *unused) {
  for (int expected = 1; expected <= ITEMS; expected++) {
    int item = take(&queue);
    assert(item == expected);
  }
  return 0;
}

int main(void) {
  pthread_t producer, consumer;
  pthread_create(&producer, 0, produce, 0);
  pthread_create(&consumer, 0, consume, 0);
  pthread_join(producer, 0);
  pthread_join(consumer, 0);
  return 0;
}
