// A checker and a writer that goes round for ever: the nodes after each round are covered by
// earlier ones. x is never anything but 0.
#include <assert.h>
#include <pthread.h>

extern _Bool __VERIFIER_nondet_bool(void);

int x, y;

void *check(void *unused) {
  assert(x == 0);
  return 0;
}

void *writer(void *unused) {
  while (1) {
    if (__VERIFIER_nondet_bool())
      y = 1;
    else
      x = 0;
    x = 0;
  }
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
