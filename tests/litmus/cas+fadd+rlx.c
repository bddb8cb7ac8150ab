// cas+fadd+rlx, from tools/litmus/table.py: a=x?1:5 rlx/rlx || b=x+1 rlx
// the outcomes of a b X
// sc: 001 105
// tso: 001 105
// pso: 001 105
// c11: 001 105
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int x;

void *thread0(void *unused) {
  int a = 7;
  a = 1, atomic_compare_exchange_strong_explicit(&x, &a, 5, memory_order_relaxed, memory_order_relaxed);
  return (void *)(long)(a * 1);
}

void *thread1(void *unused) {
  int b = 7;
  b = atomic_fetch_add_explicit(&x, 1, memory_order_relaxed);
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
