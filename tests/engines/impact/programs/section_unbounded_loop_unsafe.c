// A loop of unknown length inside an atomic section: after two rounds or more, x is not y.
#include <assert.h>
#include <pthread.h>

extern _Bool __VERIFIER_nondet_bool(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

int x, y;

void *add(void *unused) {
  __VERIFIER_atomic_begin();
  while (__VERIFIER_nondet_bool()) {
    x = x + 1;
    y = y + x;
  }
  __VERIFIER_atomic_end();
  return 0;
}

void *check(void *unused) {
  __VERIFIER_atomic_begin();
  assert(x == y);
  __VERIFIER_atomic_end();
  return 0;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, add, 0);
  pthread_create(&two, 0, check, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  return 0;
}
