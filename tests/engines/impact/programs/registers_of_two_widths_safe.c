// Functions that take turns at one depth of the stack, with registers of different types.
#include <assert.h>
#include <pthread.h>

extern long __VERIFIER_nondet_long(void);

int x;

static int narrow(int a) {
  x = x + a;
  return a;
}

static long wide(long a) {
  x = 0;
  return a;
}

void *work(void *unused) {
  x = 0;
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, work, 0);
  long n = __VERIFIER_nondet_long();
  assert(narrow(3) == 3);
  assert(wide(n) == n);
  return 0;
}
