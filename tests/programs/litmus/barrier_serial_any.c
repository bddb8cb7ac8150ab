// Any thread of a round can be the serial one.
// expect assertions: false
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

pthread_barrier_t barrier;

static void *work(void *unused) {
  pthread_barrier_wait(&barrier);
  return NULL;
}

int main(void) {
  pthread_t one;
  pthread_barrier_init(&barrier, NULL, 2);
  pthread_create(&one, NULL, work, NULL);
  assert(pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD);
  pthread_join(one, NULL);
  return 0;
}
