// Of two strong compare-and-swaps from the same value exactly one succeeds.
// expect assertions: true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

atomic_int x;
atomic_int winners;

static void *compete(void *unused) {
  int expected = 0;
  if (atomic_compare_exchange_strong(&x, &expected, 1))
    winners++;
  else
    assert(expected == 1);
  return NULL;
}

int main(void) {
  pthread_t thread_one, thread_two;
  pthread_create(&thread_one, NULL, compete, NULL);
  pthread_create(&thread_two, NULL, compete, NULL);
  pthread_join(thread_one, NULL);
  pthread_join(thread_two, NULL);
  assert(winners == 1);
  return 0;
}
