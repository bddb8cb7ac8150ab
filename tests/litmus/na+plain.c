// na+plain, from tools/litmus/table.py: x=1 na || a=x na
// the outcomes of a
// sc: 0 1
// tso: 0 1
// pso: 0 1
// c11: race
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

int x;

void *thread0(void *unused) {
  x = 1;
  return (void *)(long)(0);
}

void *thread1(void *unused) {
  int a = 7;
  a = x;
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
  int outcome = a * 1;
#ifdef OUTCOME
  assert(outcome != OUTCOME);
#endif
#ifdef ONLY
  assert(ONLY);
#endif
  return outcome;
}
