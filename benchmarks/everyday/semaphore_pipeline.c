/* A pipeline of three stages: a source, workers that square, and a sink that adds up. Between
 * the stages are channels: rings with a semaphore for free slots and one for items. An end mark for
 * each worker goes through the pipeline behind the items.
 *
 * The mistake: channel_send takes the mutex before it waits for a free slot. When the channel is
 * full, nobody can receive while the sender holds the mutex.
 * Violates: no-deadlock.
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef ITEMS
#define ITEMS 20
#endif
#ifndef CAPACITY
#define CAPACITY 2
#endif
#ifndef WORKERS
#define WORKERS 2
#endif
#define END (-1)

struct channel {
  sem_t slots, items;
  pthread_mutex_t lock;
  int ring[CAPACITY];
  unsigned sent, received;
};

struct pipeline {
  struct channel input, output;
};

static void check(int error, const char *what) {
  if (error != 0) {
    fprintf(stderr, "%s: %s\n", what, strerror(error));
    exit(EXIT_FAILURE);
  }
}

static void require(int result, const char *what) {
  if (result != 0) {
    perror(what);
    exit(EXIT_FAILURE);
  }
}

static void channel_open(struct channel *channel) {
  require(sem_init(&channel->slots, 0, CAPACITY), "sem_init");
  require(sem_init(&channel->items, 0, 0), "sem_init");
  check(pthread_mutex_init(&channel->lock, NULL), "pthread_mutex_init");
  channel->sent = channel->received = 0;
}

static void channel_close(struct channel *channel) {
  assert(channel->sent == channel->received);
  pthread_mutex_destroy(&channel->lock);
  require(sem_destroy(&channel->items), "sem_destroy");
  require(sem_destroy(&channel->slots), "sem_destroy");
}

static void channel_send(struct channel *channel, int item) {
#ifdef BROKEN
  pthread_mutex_lock(&channel->lock);
  require(sem_wait(&channel->slots), "sem_wait");
#else
  require(sem_wait(&channel->slots), "sem_wait");
  pthread_mutex_lock(&channel->lock);
#endif
  assert(channel->sent - channel->received < CAPACITY);
  channel->ring[channel->sent++ % CAPACITY] = item;
  pthread_mutex_unlock(&channel->lock);
  require(sem_post(&channel->items), "sem_post");
}

static int channel_receive(struct channel *channel) {
  require(sem_wait(&channel->items), "sem_wait");
  pthread_mutex_lock(&channel->lock);
  assert(channel->sent != channel->received);
  int item = channel->ring[channel->received++ % CAPACITY];
  pthread_mutex_unlock(&channel->lock);
  require(sem_post(&channel->slots), "sem_post");
  return item;
}

static void *produce(void *argument) {
  struct pipeline *pipeline = argument;
  for (int i = 0; i < ITEMS; i++)
    channel_send(&pipeline->input, i);
  for (int i = 0; i < WORKERS; i++)
    channel_send(&pipeline->input, END);
  return NULL;
}

static void *square(void *argument) {
  struct pipeline *pipeline = argument;
  int item;
  while ((item = channel_receive(&pipeline->input)) != END)
    channel_send(&pipeline->output, item * item);
  channel_send(&pipeline->output, END);
  return NULL;
}

int main(void) {
  struct pipeline pipeline;
  pthread_t source, workers[WORKERS];
  channel_open(&pipeline.input);
  channel_open(&pipeline.output);
  check(pthread_create(&source, NULL, produce, &pipeline), "pthread_create");
  for (int i = 0; i < WORKERS; i++)
    check(pthread_create(&workers[i], NULL, square, &pipeline), "pthread_create");
  int count = 0, ended = 0, expected = 0;
  long sum = 0;
  while (ended < WORKERS) {
    int item = channel_receive(&pipeline.output);
    if (item == END) {
      ended++;
    } else {
      sum += item;
      count++;
    }
  }
  check(pthread_join(source, NULL), "pthread_join");
  for (int i = 0; i < WORKERS; i++)
    check(pthread_join(workers[i], NULL), "pthread_join");
  for (int i = 0; i < ITEMS; i++)
    expected += i * i;
  assert(count == ITEMS);
  assert(sum == expected);
  channel_close(&pipeline.output);
  channel_close(&pipeline.input);
  return 0;
}
