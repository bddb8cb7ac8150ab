#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

extern _Bool __VERIFIER_nondet_bool(void);
extern void __VERIFIER_assume(int);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

int x;

void *f(void *unused) {
  x = x;
  return 0;
}

int main() {
  pthread_t a;
  for (int i = 0;i < 3;i++)pthread_create(&a, 0, f, 0);
  pthread_join(a, 0);
  x = 1;
  return 0;
}
