// A timed lock gives up at some time, but not where the mutex is free.
// expect assertions: true
// expect no-deadlock: true
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *other(void *unused) {
  struct timespec deadline = {1, 0};
  assert(pthread_mutex_timedlock(&mutex, &deadline) == ETIMEDOUT);
  return NULL;
}

int main(void) {
  struct timespec deadline = {1, 0};
  pthread_t thread;
  assert(pthread_mutex_timedlock(&mutex, &deadline) == 0);
  pthread_create(&thread, NULL, other, NULL);
  pthread_join(thread, NULL);
  pthread_mutex_unlock(&mutex);
  return 0;
}
