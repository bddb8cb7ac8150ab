// Three branches meet before `x = 0`: the first independent of both checkers, the others dependent
// on one each. No value that is written violates an assertion.
#include <assert.h>
#include <pthread.h>

extern _Bool __VERIFIER_nondet_bool(void);

int x, y, z;

void *check_x(void *unused) {
  assert(x == 0);
  return 0;
}

void *check_y(void *unused) {
  assert(y <= 1);
  return 0;
}

void *writer(void *unused) {
  if (__VERIFIER_nondet_bool())
    z = 1;
  else if (__VERIFIER_nondet_bool())
    y = 1;
  else
    x = 0;
  x = 0;
  y = 0;
  return 0;
}

int main(void) {
  pthread_t one, two, three;
  z = 0;
  pthread_create(&one, 0, check_x, 0);
  pthread_create(&two, 0, check_y, 0);
  pthread_create(&three, 0, writer, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  pthread_join(three, 0);
  return 0;
}
