#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

extern _Bool __VERIFIER_nondet_bool(void);
extern void __VERIFIER_assume(int);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

int x;

void *g(void *unused) {
  x = 1;
  return 0;
}

void *f(void *unused) {
  pthread_t b;
  pthread_create(&b, 0, g, 0);
  return 0;
}

int main() {
  pthread_t a;
  pthread_create(&a, 0, f, 0);
  pthread_join(a, 0);
  x = 2;
  return 0;
}
