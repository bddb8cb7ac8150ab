// S+rel-rlx, from tools/litmus/table.py: x=2 rlx; y=1 rel || a=y rlx; x=1 rlx
// the outcomes of a X
// sc: 01 02 11
// tso: 01 02 11
// pso: 01 02 11 12
// c11: 01 02 11 12
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int x;
atomic_int y;

void *thread0(void *unused) {
  atomic_store_explicit(&x, 2, memory_order_relaxed);
  atomic_store_explicit(&y, 1, memory_order_release);
  return (void *)(long)(0);
}

void *thread1(void *unused) {
  int a = 7;
  a = atomic_load_explicit(&y, memory_order_relaxed);
  atomic_store_explicit(&x, 1, memory_order_relaxed);
  return (void *)(long)(a * 1);
}

int main(void) {
  pthread_t ids[2];
  void *result;
  pthread_create(&ids[0], 0, thread0, 0);
  pthread_create(&ids[1], 0, thread1, 0);
  pthread_join(ids[0], &result);
  pthread_join(ids[1], &result);
  int a = (int)(long)result / 1 % 10;
  int X = x;
  int outcome = a * 10 + X * 1;
#ifdef OUTCOME
  assert(outcome != OUTCOME);
#endif
#ifdef ONLY
  assert(ONLY);
#endif
  return outcome;
}
