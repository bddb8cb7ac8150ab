// CoRW1+sc, from tools/litmus/table.py: a=x sc; x=1 sc
// the outcomes of a X
// sc: 01
// tso: 01
// pso: 01
// c11: 01
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int x;

void *thread0(void *unused) {
  int a = 7;
  a = atomic_load_explicit(&x, memory_order_seq_cst);
  atomic_store_explicit(&x, 1, memory_order_seq_cst);
  return (void *)(long)(a * 1);
}

int main(void) {
  pthread_t ids[1];
  void *result;
  pthread_create(&ids[0], 0, thread0, 0);
  pthread_join(ids[0], &result);
  int a = (int)(long)result / 1 % 10;
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
