// n5+rlx, from tools/litmus/table.py: x=1 rlx; a=x rlx || x=2 rlx; b=x rlx
// the outcomes of a b X
// sc: 111 121 122 222
// tso: 111 121 122 222
// pso: 111 121 122 222
// c11: 111 121 122 222
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int x;

void *thread0(void *unused) {
  int a = 7;
  atomic_store_explicit(&x, 1, memory_order_relaxed);
  a = atomic_load_explicit(&x, memory_order_relaxed);
  return (void *)(long)(a * 1);
}

void *thread1(void *unused) {
  int b = 7;
  atomic_store_explicit(&x, 2, memory_order_relaxed);
  b = atomic_load_explicit(&x, memory_order_relaxed);
  return (void *)(long)(b * 1);
}

int main(void) {
  pthread_t ids[2];
  void *result;
  pthread_create(&ids[0], 0, thread0, 0);
  pthread_create(&ids[1], 0, thread1, 0);
  pthread_join(ids[0], &result);
  int a = (int)(long)result / 1 % 10;
  pthread_join(ids[1], &result);
  int b = (int)(long)result / 1 % 10;
  int X = x;
  int outcome = a * 100 + b * 10 + X * 1;
#ifdef OUTCOME
  assert(outcome != OUTCOME);
#endif
#ifdef ONLY
  assert(ONLY);
#endif
  return outcome;
}
