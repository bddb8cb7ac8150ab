#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

extern _Bool __VERIFIER_nondet_bool(void);
extern void __VERIFIER_assume(int);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

_Atomic int m;
int x;

void *f(void *unused) {
  while (atomic_exchange(&m, 1));
  x++;
  m = 0;
  return 0;
}

int main() {
  pthread_t a;
  int o = atomic_exchange(&m, 1);
  m = 0;
  if (o == 0) {
    pthread_create(&a, 0, f, 0);
    x++;
  }
  return 0;
}
