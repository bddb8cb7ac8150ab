// A barrier that is destroyed and initialised again does not disturb the round before.
// expect assertions: true
// expect no-deadlock: true
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

pthread_barrier_t barrier;

static void *work(void *unused) {
  return (void *)(long)(pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD);
}

int main(void) {
  pthread_t thread;
  void *theirs;
  pthread_barrier_init(&barrier, NULL, 2);
  pthread_create(&thread, NULL, work, NULL);
  int mine = pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD;
  pthread_barrier_destroy(&barrier);
  pthread_barrier_init(&barrier, NULL, 2);
  pthread_join(thread, &theirs);
  assert(mine + (long)theirs == 1);
  return 0;
}
