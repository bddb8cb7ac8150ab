// The section with the store to x cannot happen before y is 1, although the store comes first in
// it.
#include <assert.h>
#include <pthread.h>

extern void __VERIFIER_assume(int);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

int x, y;

void *waiter(void *unused) {
  __VERIFIER_atomic_begin();
  x = 1;
  __VERIFIER_assume(y == 1);
  __VERIFIER_atomic_end();
  return 0;
}

void *release(void *unused) {
  assert(x == 0);
  y = 1;
  return 0;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, waiter, 0);
  pthread_create(&two, 0, release, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  return 0;
}
