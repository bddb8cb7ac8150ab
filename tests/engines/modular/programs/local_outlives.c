#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

extern _Bool __VERIFIER_nondet_bool(void);
extern void __VERIFIER_assume(int);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

void *f(void *p) {
  *(int *)p = 1;
  return 0;
}

void go() {
  int x = 0;
  pthread_t a;
  pthread_create(&a, 0, f, &x);
}

int main() {
  go();
  int y = 0;
  assert(y == 0);
  return 0;
}
