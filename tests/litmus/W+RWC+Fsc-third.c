// W+RWC+Fsc-third, from tools/litmus/table.py: x=1 rlx; y=1 rlx || a=y rlx; b=z rlx || z=1 rlx; F sc; c=x rlx
// the outcomes of a b c
// sc: 000 001 010 011 101 110 111
// tso: 000 001 010 011 101 110 111
// pso: 000 001 010 011 100 101 110 111
// c11: 000 001 010 011 100 101 110 111
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int x;
atomic_int y;
atomic_int z;

void *thread0(void *unused) {
  atomic_store_explicit(&x, 1, memory_order_relaxed);
  atomic_store_explicit(&y, 1, memory_order_relaxed);
  return (void *)(long)(0);
}

void *thread1(void *unused) {
  int a = 7;
  int b = 7;
  a = atomic_load_explicit(&y, memory_order_relaxed);
  b = atomic_load_explicit(&z, memory_order_relaxed);
  return (void *)(long)(a * 1 + b * 10);
}

void *thread2(void *unused) {
  int c = 7;
  atomic_store_explicit(&z, 1, memory_order_relaxed);
  atomic_thread_fence(memory_order_seq_cst);
  c = atomic_load_explicit(&x, memory_order_relaxed);
  return (void *)(long)(c * 1);
}

int main(void) {
  pthread_t ids[3];
  void *result;
  pthread_create(&ids[0], 0, thread0, 0);
  pthread_create(&ids[1], 0, thread1, 0);
  pthread_create(&ids[2], 0, thread2, 0);
  pthread_join(ids[0], &result);
  pthread_join(ids[1], &result);
  int a = (int)(long)result / 1 % 10;
  int b = (int)(long)result / 10 % 10;
  pthread_join(ids[2], &result);
  int c = (int)(long)result / 1 % 10;
  int outcome = a * 100 + b * 10 + c * 1;
#ifdef OUTCOME
  assert(outcome != OUTCOME);
#endif
#ifdef ONLY
  assert(ONLY);
#endif
  return outcome;
}
