// n6+Fsc, from tools/litmus/table.py: x=1 rlx; F sc; a=x rlx; b=y rlx || y=2 rlx; F sc; x=2 rlx
// the outcomes of X a b
// sc: 112 210 212 222
// tso: 112 210 212 222
// pso: 112 210 212 222
// c11: 112 210 212 220 222
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int x;
atomic_int y;

void *thread0(void *unused) {
  int a = 7;
  int b = 7;
  atomic_store_explicit(&x, 1, memory_order_relaxed);
  atomic_thread_fence(memory_order_seq_cst);
  a = atomic_load_explicit(&x, memory_order_relaxed);
  b = atomic_load_explicit(&y, memory_order_relaxed);
  return (void *)(long)(a * 1 + b * 10);
}

void *thread1(void *unused) {
  atomic_store_explicit(&y, 2, memory_order_relaxed);
  atomic_thread_fence(memory_order_seq_cst);
  atomic_store_explicit(&x, 2, memory_order_relaxed);
  return (void *)(long)(0);
}

int main(void) {
  pthread_t ids[2];
  void *result;
  pthread_create(&ids[0], 0, thread0, 0);
  pthread_create(&ids[1], 0, thread1, 0);
  pthread_join(ids[0], &result);
  int a = (int)(long)result / 1 % 10;
  int b = (int)(long)result / 10 % 10;
  pthread_join(ids[1], &result);
  int X = x;
  int outcome = X * 100 + a * 10 + b * 1;
#ifdef OUTCOME
  assert(outcome != OUTCOME);
#endif
#ifdef ONLY
  assert(ONLY);
#endif
  return outcome;
}
