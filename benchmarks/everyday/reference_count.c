/* A shared buffer with a reference count: whoever drops the last reference frees it. The workers
 * take and drop references all the time, and the initial thread drops its own one early.
 *
 * The mistake: buffer_release decrements the count and then loads it again to see whether it was the
 * last one. Two threads may both find 0, or find that the buffer is gone.
 * Violates: valid-memsafety.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef ITEMS
#define ITEMS 20 /* references that each worker takes */
#endif
#ifndef WORKERS
#define WORKERS 3
#endif
#define LENGTH 4

struct buffer {
  atomic_int references;
  int length;
  int data[];
};

static atomic_int live_buffers;

static void check(int error, const char *what) {
  if (error != 0) {
    fprintf(stderr, "%s: %s\n", what, strerror(error));
    exit(EXIT_FAILURE);
  }
}

/* The caller has the first reference. */
static struct buffer *buffer_create(int length) {
  struct buffer *buffer = malloc(sizeof *buffer + (size_t)length * sizeof buffer->data[0]);
  if (buffer == NULL) {
    perror("malloc");
    exit(EXIT_FAILURE);
  }
  atomic_init(&buffer->references, 1);
  buffer->length = length;
  for (int i = 0; i < length; i++)
    buffer->data[i] = i;
  atomic_fetch_add(&live_buffers, 1);
  return buffer;
}

static struct buffer *buffer_retain(struct buffer *buffer) {
  int before = atomic_fetch_add(&buffer->references, 1);
  assert(before > 0);
  return buffer;
}

static void buffer_release(struct buffer *buffer) {
#ifdef BROKEN
  atomic_fetch_sub(&buffer->references, 1);
  if (atomic_load(&buffer->references) > 0)
    return;
#else
  if (atomic_fetch_sub(&buffer->references, 1) > 1)
    return;
#endif
  atomic_fetch_sub(&live_buffers, 1);
  free(buffer);
}

static int buffer_sum(const struct buffer *buffer) {
  int sum = 0;
  for (int i = 0; i < buffer->length; i++)
    sum += buffer->data[i];
  return sum;
}

/* The argument is a reference that belongs to the thread. */
static void *work(void *argument) {
  struct buffer *own = argument;
  for (int i = 0; i < ITEMS; i++) {
    struct buffer *buffer = buffer_retain(own);
    assert(buffer_sum(buffer) == LENGTH * (LENGTH - 1) / 2);
    buffer_release(buffer);
  }
  buffer_release(own);
  return NULL;
}

int main(void) {
  pthread_t workers[WORKERS];
  struct buffer *buffer = buffer_create(LENGTH);
  for (int i = 0; i < WORKERS; i++)
    check(pthread_create(&workers[i], NULL, work, buffer_retain(buffer)), "pthread_create");
  buffer_release(buffer);
  for (int i = 0; i < WORKERS; i++)
    check(pthread_join(workers[i], NULL), "pthread_join");
  assert(atomic_load(&live_buffers) == 0);
  return 0;
}
