// A loop of unknown length over stores that do not concern the checker. The assertion fails between
// the two stores behind the loop.
#include <assert.h>
#include <pthread.h>

extern _Bool __VERIFIER_nondet_bool(void);

int x, y;

void *check(void *unused) {
  assert(x == 0);
  return 0;
}

void *loop(void *unused) {
  while (__VERIFIER_nondet_bool())
    y = 1 - y;
  x = 1;
  x = 0;
  return 0;
}

int main(void) {
  pthread_t one, two;
  y = 0;
  pthread_create(&one, 0, check, 0);
  pthread_create(&two, 0, loop, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  return 0;
}
