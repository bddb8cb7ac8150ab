// fadd+reads+rlx, from tools/litmus/table.py: a=x+1 rlx || b=x+1 rlx || c=x rlx; d=x rlx
// the outcomes of a b c d
// sc: 0100 0101 0102 0111 0112 0122 1000 1001 1002 1011 1012 1022
// tso: 0100 0101 0102 0111 0112 0122 1000 1001 1002 1011 1012 1022
// pso: 0100 0101 0102 0111 0112 0122 1000 1001 1002 1011 1012 1022
// c11: 0100 0101 0102 0111 0112 0122 1000 1001 1002 1011 1012 1022
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
  int b = 7;
  b = atomic_fetch_add_explicit(&x, 1, memory_order_relaxed);
  return (void *)(long)(b * 1);
}

void *thread2(void *unused) {
  int c = 7;
  int d = 7;
  c = atomic_load_explicit(&x, memory_order_relaxed);
  d = atomic_load_explicit(&x, memory_order_relaxed);
  return (void *)(long)(c * 1 + d * 10);
}

int main(void) {
  pthread_t ids[3];
  void *result;
  pthread_create(&ids[0], 0, thread0, 0);
  pthread_create(&ids[1], 0, thread1, 0);
  pthread_create(&ids[2], 0, thread2, 0);
  pthread_join(ids[0], &result);
  int a = (int)(long)result / 1 % 10;
  pthread_join(ids[1], &result);
  int b = (int)(long)result / 1 % 10;
  pthread_join(ids[2], &result);
  int c = (int)(long)result / 1 % 10;
  int d = (int)(long)result / 10 % 10;
  int outcome = a * 1000 + b * 100 + c * 10 + d * 1;
#ifdef OUTCOME
  assert(outcome != OUTCOME);
#endif
#ifdef ONLY
  assert(ONLY);
#endif
  return outcome;
}
