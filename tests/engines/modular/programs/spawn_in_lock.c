#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

extern _Bool __VERIFIER_nondet_bool(void);
extern void __VERIFIER_assume(int);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

pthread_mutex_t m;
int x;

void *g(void *unused) {
  assert(x == 0);
  return 0;
}

int main() {
  pthread_t a;
  pthread_mutex_lock(&m);
  x = 1;
  pthread_create(&a, 0, g, 0);
  x = 0;
  pthread_mutex_unlock(&m);
  return 0;
}
