// Exactly one thread of a round is the serial thread.
// expect assertions: true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

pthread_barrier_t barrier;
atomic_int serial;

static void *work(void *unused) {
  int result = pthread_barrier_wait(&barrier);
  assert(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
  if (result == PTHREAD_BARRIER_SERIAL_THREAD) serial++;
  return NULL;
}

int main(void) {
  pthread_t one;
  pthread_barrier_init(&barrier, NULL, 2);
  pthread_create(&one, NULL, work, NULL);
  work(NULL);
  pthread_join(one, NULL);
  assert(serial == 1);
  return 0;
}
