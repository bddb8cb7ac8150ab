#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

extern _Bool __VERIFIER_nondet_bool(void);
extern void __VERIFIER_assume(int);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

int *p[2];

int main() {
  for (int i = 0;i < 2;i++) {
    p[i] = malloc(4);
    *p[i] = i;
  }
  assert(*p[0] == 0);
  assert(*p[1] == 1);
  return 0;
}
