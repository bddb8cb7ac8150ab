#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

extern _Bool __VERIFIER_nondet_bool(void);
extern void __VERIFIER_assume(int);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

int x;

void *f(void *p) {
  x = (int)(long)p;
  return 0;
}

int main() {
  pthread_t a[3];
  for (long i = 0;i < 3;i++)pthread_create(&a[i], 0, f, (void*)i);
  for (int i = 0;i < 3;i++)pthread_join(a[i], 0);
  assert(x < 2);
  return 0;
}
