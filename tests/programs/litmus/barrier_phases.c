// Nobody enters the second phase before all have left the first.
// expect assertions: true
// expect no-data-race: true
// expect no-deadlock: true
// expect lock-misuse: true
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

pthread_barrier_t barrier;
int a, b;

static void *left(void *unused) {
  a = 1;
  pthread_barrier_wait(&barrier);
  assert(b == 1);
  return NULL;
}

static void *right(void *unused) {
  b = 1;
  pthread_barrier_wait(&barrier);
  assert(a == 1);
  return NULL;
}

int main(void) {
  pthread_t one, two;
  pthread_barrier_init(&barrier, NULL, 2);
  pthread_create(&one, NULL, left, NULL);
  pthread_create(&two, NULL, right, NULL);
  pthread_join(one, NULL);
  pthread_join(two, NULL);
  pthread_barrier_destroy(&barrier);
  return 0;
}
