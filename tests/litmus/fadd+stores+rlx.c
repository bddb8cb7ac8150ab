// fadd+stores+rlx, from tools/litmus/table.py: a=x+1 rlx || x=2 rlx; x=4 rlx
// the outcomes of a X
// sc: 04 24 45
// tso: 04 24 45
// pso: 04 24 45
// c11: 04 24 45
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int x;

void *thread0(void *unused) {
  int a = 7;
  a = atomic_fetch_add_explicit(&x, 1, memory_order_relaxed);
  return (void *)(long)(a * 1);
}

void *thread1(void *unused) {
  atomic_store_explicit(&x, 2, memory_order_relaxed);
  atomic_store_explicit(&x, 4, memory_order_relaxed);
  return (void *)(long)(0);
}

int main(void) {
  pthread_t ids[2];
  void *result;
  pthread_create(&ids[0], 0, thread0, 0);
  pthread_create(&ids[1], 0, thread1, 0);
  pthread_join(ids[0], &result);
  int a = (int)(long)result / 1 % 10;
  pthread_join(ids[1], &result);
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
