// Peterson's lock: each thread must see the other's flag, or the other one its own.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#define RLX memory_order_relaxed
#ifndef FENCE
#define FENCE
#endif

atomic_int flag0, flag1, turn;
atomic_int inside;

void critical(void) {
  int before = atomic_load_explicit(&inside, RLX);
  atomic_store_explicit(&inside, before + 1, RLX);
}

void *zero(void *unused) {
  atomic_store_explicit(&flag0, 1, RLX);
  atomic_store_explicit(&turn, 1, RLX);
  FENCE;
  while (atomic_load_explicit(&flag1, RLX) && atomic_load_explicit(&turn, RLX) == 1);
  critical();
  atomic_store_explicit(&flag0, 0, RLX);
  return 0;
}

void *one(void *unused) {
  atomic_store_explicit(&flag1, 1, RLX);
  atomic_store_explicit(&turn, 0, RLX);
  FENCE;
  while (atomic_load_explicit(&flag0, RLX) && atomic_load_explicit(&turn, RLX) == 0);
  critical();
  atomic_store_explicit(&flag1, 0, RLX);
  return 0;
}

int main(void) {
  pthread_t ids[2];
  pthread_create(&ids[0], 0, zero, 0);
  pthread_create(&ids[1], 0, one, 0);
  pthread_join(ids[0], 0);
  pthread_join(ids[1], 0);
  assert(inside == 2);
}
