// na+ww+plain, from tools/litmus/table.py: x=1 na || x=2 na
// the outcomes of X
// sc: 1 2
// tso: 1 2
// pso: 1 2
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
  x = 2;
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
  int outcome = X * 1;
#ifdef OUTCOME
  assert(outcome != OUTCOME);
#endif
#ifdef ONLY
  assert(ONLY);
#endif
  return outcome;
}
