// IRIW+sc, from tools/litmus/table.py: x=1 sc || y=1 sc || a=x sc; b=y sc || c=y sc; d=x sc
// the outcomes of a b c d
// sc: 0000 0001 0010 0011 0100 0101 0110 0111 1000 1001 1011 1100 1101 1110 1111
// tso: 0000 0001 0010 0011 0100 0101 0110 0111 1000 1001 1011 1100 1101 1110 1111
// pso: 0000 0001 0010 0011 0100 0101 0110 0111 1000 1001 1011 1100 1101 1110 1111
// c11: 0000 0001 0010 0011 0100 0101 0110 0111 1000 1001 1011 1100 1101 1110 1111
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int x;
atomic_int y;

void *thread0(void *unused) {
  atomic_store_explicit(&x, 1, memory_order_seq_cst);
  return (void *)(long)(0);
}

void *thread1(void *unused) {
  atomic_store_explicit(&y, 1, memory_order_seq_cst);
  return (void *)(long)(0);
}

void *thread2(void *unused) {
  int a = 7;
  int b = 7;
  a = atomic_load_explicit(&x, memory_order_seq_cst);
  b = atomic_load_explicit(&y, memory_order_seq_cst);
  return (void *)(long)(a * 1 + b * 10);
}

void *thread3(void *unused) {
  int c = 7;
  int d = 7;
  c = atomic_load_explicit(&y, memory_order_seq_cst);
  d = atomic_load_explicit(&x, memory_order_seq_cst);
  return (void *)(long)(c * 1 + d * 10);
}

int main(void) {
  pthread_t ids[4];
  void *result;
  pthread_create(&ids[0], 0, thread0, 0);
  pthread_create(&ids[1], 0, thread1, 0);
  pthread_create(&ids[2], 0, thread2, 0);
  pthread_create(&ids[3], 0, thread3, 0);
  pthread_join(ids[0], &result);
  pthread_join(ids[1], &result);
  pthread_join(ids[2], &result);
  int a = (int)(long)result / 1 % 10;
  int b = (int)(long)result / 10 % 10;
  pthread_join(ids[3], &result);
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
