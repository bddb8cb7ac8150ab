// A barrier can be used again at once: a fast thread in the next round does not disturb a slow one.
// expect assertions: true
// expect no-deadlock: true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

pthread_barrier_t barrier;
atomic_int round_of[2];

static void work(int me) {
  for (int round = 1; round <= 3; round++) {
    round_of[me] = round;
    pthread_barrier_wait(&barrier);
    int other = round_of[1 - me];
    assert(other == round || other == round + 1);
  }
}

static void *thread(void *unused) {
  work(1);
  return NULL;
}

int main(void) {
  pthread_t one;
  pthread_barrier_init(&barrier, NULL, 2);
  pthread_create(&one, NULL, thread, NULL);
  work(0);
  pthread_join(one, NULL);
  return 0;
}
