// Any input above 1000, and one value of 2^31 that is wrong.
#include <assert.h>
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_assume(int);

int x;

void *work(void *unused) {
  int input = __VERIFIER_nondet_int();
  __VERIFIER_assume(input > 1000);
  x = input - 1000;
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, work, 0);
  int seen = x;
  pthread_join(thread, 0);
  assert(seen == 0 || seen == x);
  assert(x != 123456);
  return 0;
}
