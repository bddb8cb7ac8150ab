#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

extern _Bool __VERIFIER_nondet_bool(void);
extern void __VERIFIER_assume(int);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

int *p;

void *f(void *unused) {
  if (p)assert(*p == 1);
  return 0;
}

int main() {
  pthread_t a;
  int *q = malloc(4);
  *q = 0;
  p = q;
  *q = 1;
  pthread_create(&a, 0, f, 0);
  *q = 2;
  return 0;
}
