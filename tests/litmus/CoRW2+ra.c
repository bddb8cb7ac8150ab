// CoRW2+ra, from tools/litmus/table.py: a=x acq; x=2 rel || x=1 rel
// the outcomes of a X
// sc: 01 02 12
// tso: 01 02 12
// pso: 01 02 12
// c11: 01 02 12
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int x;

void *thread0(void *unused) {
  int a = 7;
  a = atomic_load_explicit(&x, memory_order_acquire);
  atomic_store_explicit(&x, 2, memory_order_release);
  return (void *)(long)(a * 1);
}

void *thread1(void *unused) {
  atomic_store_explicit(&x, 1, memory_order_release);
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
