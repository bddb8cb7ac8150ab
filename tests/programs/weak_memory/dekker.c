// The heart of Dekker's lock: who sees that the other one wants to enter stays out.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#define RLX memory_order_relaxed
#ifndef FENCE
#define FENCE
#endif

atomic_int wants0, wants1;
int entered0, entered1;

void *zero(void *unused) {
  atomic_store_explicit(&wants0, 1, RLX);
  FENCE;
  if (!atomic_load_explicit(&wants1, RLX)) entered0 = 1;
  return 0;
}

void *one(void *unused) {
  atomic_store_explicit(&wants1, 1, RLX);
  FENCE;
  if (!atomic_load_explicit(&wants0, RLX)) entered1 = 1;
  return 0;
}

int main(void) {
  pthread_t ids[2];
  pthread_create(&ids[0], 0, zero, 0);
  pthread_create(&ids[1], 0, one, 0);
  pthread_join(ids[0], 0);
  pthread_join(ids[1], 0);
  assert(!(entered0 && entered1));
}
