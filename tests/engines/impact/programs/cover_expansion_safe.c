// Section IV-C without the bug: both branches leave x at 0, so that every cover is right.
#include <assert.h>
#include <pthread.h>

extern _Bool __VERIFIER_nondet_bool(void);

int x, y;

void *check(void *unused) {
  assert(x == 0);
  return 0;
}

void *writer(void *unused) {
  if (__VERIFIER_nondet_bool())
    x = 0;
  else
    y = 1;
  x = 0;
  return 0;
}

int main(void) {
  pthread_t one, two;
  y = 0;
  pthread_create(&one, 0, check, 0);
  pthread_create(&two, 0, writer, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  return 0;
}
