// MP+rlx-acq, from tools/litmus/table.py: x=1 rlx; y=1 rlx || a=y acq; b=x rlx
// the outcomes of a b
// sc: 00 01 11
// tso: 00 01 11
// pso: 00 01 10 11
// c11: 00 01 10 11
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int x;
atomic_int y;

void *thread0(void *unused) {
  atomic_store_explicit(&x, 1, memory_order_relaxed);
  atomic_store_explicit(&y, 1, memory_order_relaxed);
  return (void *)(long)(0);
}

void *thread1(void *unused) {
  int a = 7;
  int b = 7;
  a = atomic_load_explicit(&y, memory_order_acquire);
  b = atomic_load_explicit(&x, memory_order_relaxed);
  return (void *)(long)(a * 1 + b * 10);
}

int main(void) {
  pthread_t ids[2];
  void *result;
  pthread_create(&ids[0], 0, thread0, 0);
  pthread_create(&ids[1], 0, thread1, 0);
  pthread_join(ids[0], &result);
  pthread_join(ids[1], &result);
  int a = (int)(long)result / 1 % 10;
  int b = (int)(long)result / 10 % 10;
  int outcome = a * 10 + b * 1;
#ifdef OUTCOME
  assert(outcome != OUTCOME);
#endif
#ifdef ONLY
  assert(ONLY);
#endif
  return outcome;
}
