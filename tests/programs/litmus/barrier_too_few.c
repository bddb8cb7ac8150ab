// A barrier for three that two reach.
// expect no-deadlock: false
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

pthread_barrier_t barrier;

static void *work(void *unused) {
  pthread_barrier_wait(&barrier);
  return NULL;
}

int main(void) {
  pthread_t one;
  pthread_barrier_init(&barrier, NULL, 3);
  pthread_create(&one, NULL, work, NULL);
  pthread_barrier_wait(&barrier);
  pthread_join(one, NULL);
  return 0;
}
