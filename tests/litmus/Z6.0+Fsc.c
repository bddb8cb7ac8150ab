// Z6.0+Fsc, from tools/litmus/table.py: x=1 rlx; F sc; y=1 rlx || y=2 rlx; F sc; z=1 rlx || a=z rlx; F sc; b=x rlx
// the outcomes of Y a b
// sc: 100 101 110 111 200 201 211
// tso: 100 101 110 111 200 201 211
// pso: 100 101 110 111 200 201 211
// c11: 100 101 110 111 200 201 211
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int x;
atomic_int y;
atomic_int z;

void *thread0(void *unused) {
  atomic_store_explicit(&x, 1, memory_order_relaxed);
  atomic_thread_fence(memory_order_seq_cst);
  atomic_store_explicit(&y, 1, memory_order_relaxed);
  return (void *)(long)(0);
}

void *thread1(void *unused) {
  atomic_store_explicit(&y, 2, memory_order_relaxed);
  atomic_thread_fence(memory_order_seq_cst);
  atomic_store_explicit(&z, 1, memory_order_relaxed);
  return (void *)(long)(0);
}

void *thread2(void *unused) {
  int a = 7;
  int b = 7;
  a = atomic_load_explicit(&z, memory_order_relaxed);
  atomic_thread_fence(memory_order_seq_cst);
  b = atomic_load_explicit(&x, memory_order_relaxed);
  return (void *)(long)(a * 1 + b * 10);
}

int main(void) {
  pthread_t ids[3];
  void *result;
  pthread_create(&ids[0], 0, thread0, 0);
  pthread_create(&ids[1], 0, thread1, 0);
  pthread_create(&ids[2], 0, thread2, 0);
  pthread_join(ids[0], &result);
  pthread_join(ids[1], &result);
  pthread_join(ids[2], &result);
  int a = (int)(long)result / 1 % 10;
  int b = (int)(long)result / 10 % 10;
  int Y = y;
  int outcome = Y * 100 + a * 10 + b * 1;
#ifdef OUTCOME
  assert(outcome != OUTCOME);
#endif
#ifdef ONLY
  assert(ONLY);
#endif
  return outcome;
}
