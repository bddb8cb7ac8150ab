#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

extern _Bool __VERIFIER_nondet_bool(void);
extern void __VERIFIER_assume(int);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

int m;
int x;

void *f(void *unused) {
  __VERIFIER_atomic_begin();
  __VERIFIER_assume(m == 0);
  m = 1;
  __VERIFIER_atomic_end();
  x++;
  __VERIFIER_atomic_begin();
  m = !m;
  __VERIFIER_atomic_end();
  return 0;
}

void *g(void *unused) {
  __VERIFIER_atomic_begin();
  m = !m;
  __VERIFIER_atomic_end();
  return f(unused);
}

int main() {
  pthread_t a, b;
  pthread_create(&a, 0, f, 0);
  pthread_create(&b, 0, g, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
