// R+Frel-Fsc, from tools/litmus/table.py: x=1 rlx; F rel; y=1 rlx || y=2 rlx; F sc; a=x rlx
// the outcomes of Y a
// sc: 10 11 21
// tso: 10 11 21
// pso: 10 11 21
// c11: 10 11 20 21
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int x;
atomic_int y;

void *thread0(void *unused) {
  atomic_store_explicit(&x, 1, memory_order_relaxed);
  atomic_thread_fence(memory_order_release);
  atomic_store_explicit(&y, 1, memory_order_relaxed);
  return (void *)(long)(0);
}

void *thread1(void *unused) {
  int a = 7;
  atomic_store_explicit(&y, 2, memory_order_relaxed);
  atomic_thread_fence(memory_order_seq_cst);
  a = atomic_load_explicit(&x, memory_order_relaxed);
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
  int Y = y;
  int outcome = Y * 10 + a * 1;
#ifdef OUTCOME
  assert(outcome != OUTCOME);
#endif
#ifdef ONLY
  assert(ONLY);
#endif
  return outcome;
}
