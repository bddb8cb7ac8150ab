#include <assert.h>
#include <pthread.h>

extern void __VERIFIER_assume(int);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

int m, x;

void acquire(void) {
  __VERIFIER_atomic_begin();
  __VERIFIER_assume(m == 0);
  m = 1;
  __VERIFIER_atomic_end();
}

void *f(void *unused) {
  acquire();
  x = 1;
  return 0;
}

void *g(void *unused) {
  acquire();
  assert(x == 0);
  m = 0;
  return 0;
}

int main() {
  pthread_t a, b;
  pthread_create(&a, 0, f, 0);
  pthread_join(a, 0);
  m = 0;
  pthread_create(&b, 0, g, 0);
  pthread_join(b, 0);
  return 0;
}
