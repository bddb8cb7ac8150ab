// 2+2W+sc, from tools/litmus/table.py: x=1 sc; y=2 sc || y=1 sc; x=2 sc
// the outcomes of X Y
// sc: 12 21 22
// tso: 12 21 22
// pso: 11 12 21 22
// c11: 12 21 22
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int x;
atomic_int y;

void *thread0(void *unused) {
  atomic_store_explicit(&x, 1, memory_order_seq_cst);
  atomic_store_explicit(&y, 2, memory_order_seq_cst);
  return (void *)(long)(0);
}

void *thread1(void *unused) {
  atomic_store_explicit(&y, 1, memory_order_seq_cst);
  atomic_store_explicit(&x, 2, memory_order_seq_cst);
  return (void *)(long)(0);
}

int main(void) {
  pthread_t ids[2];
  void *result;
  pthread_create(&ids[0], 0, thread0, 0);
  pthread_create(&ids[1], 0, thread1, 0);
  pthread_join(ids[0], &result);
  pthread_join(ids[1], &result);
  int X = x;
  int Y = y;
  int outcome = X * 10 + Y * 1;
#ifdef OUTCOME
  assert(outcome != OUTCOME);
#endif
#ifdef ONLY
  assert(ONLY);
#endif
  return outcome;
}
