// Arithmetic has 32 bits and wraps: the successor of the largest input is the smallest number.
#include <assert.h>
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);

int x;

void *work(void *unused) {
  x = __VERIFIER_nondet_int();
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, work, 0);
  pthread_join(thread, 0);
  int next = (int)((unsigned)x + 1u);
  assert(next > x);
  return 0;
}
