#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

extern _Bool __VERIFIER_nondet_bool(void);
extern void __VERIFIER_assume(int);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

int *last, *cur;

void *f(void *unused) {
  return 0;
}

int main() {
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  while (__VERIFIER_nondet_bool()) {
    cur = malloc(4);
    *cur = 1;
    if (last) {
      *cur = 5;
      assert(*last == 1);
    }
    last = cur;
  }
  return 0;
}
