#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

extern _Bool __VERIFIER_nondet_bool(void);
extern void __VERIFIER_assume(int);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

pthread_mutex_t m[2];
int x;

void *f(void *v) {
  int i = (int)(long)v;
  pthread_mutex_lock(&m[i]);
  x++;
  pthread_mutex_unlock(&m[i]);
  return 0;
}

int main() {
  pthread_t a, b;
  pthread_create(&a, 0, f, (void*)0);
  pthread_create(&b, 0, f, (void*)1);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(x >= 0);
  return 0;
}
