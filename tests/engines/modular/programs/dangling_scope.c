#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

extern _Bool __VERIFIER_nondet_bool(void);
extern void __VERIFIER_assume(int);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

int main() {
  int *p = 0;
  for (int i = 0;i < 2;i++) {
    int x = 0;
    if (p)*p = 1;
    p = &x;
    assert(x == 0);
  }
  return 0;
}
