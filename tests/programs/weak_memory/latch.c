// The latch by which workers of PostgreSQL wake each other: a worker that finds its latch set finds
// its flag set, too (after Alglave, Kroening, Nimal, Tautschnig, ESOP 2013).
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#define RLX memory_order_relaxed
#ifndef BEHIND_FLAG
#define BEHIND_FLAG
#endif
#ifndef BEHIND_LATCH
#define BEHIND_LATCH
#endif

atomic_int latch0 = 1, flag0 = 1, latch1, flag1;

void *zero(void *unused) {
  while (!atomic_load_explicit(&latch0, RLX));
  atomic_store_explicit(&latch0, 0, RLX);
  if (atomic_load_explicit(&flag0, RLX)) {
    atomic_store_explicit(&flag0, 0, RLX);
    atomic_store_explicit(&flag1, 1, RLX);
    BEHIND_FLAG;
    atomic_store_explicit(&latch1, 1, RLX);
    BEHIND_LATCH;
  }
  return 0;
}

void *one(void *unused) {
  while (!atomic_load_explicit(&latch1, RLX));
  BEHIND_LATCH;
  atomic_store_explicit(&latch1, 0, RLX);
  int has_work = atomic_load_explicit(&flag1, RLX);
  assert(has_work);
  return 0;
}

int main(void) {
  pthread_t ids[2];
  pthread_create(&ids[0], 0, zero, 0);
  pthread_create(&ids[1], 0, one, 0);
  pthread_join(ids[0], 0);
  pthread_join(ids[1], 0);
}
