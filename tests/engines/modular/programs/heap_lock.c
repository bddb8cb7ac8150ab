#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

extern _Bool __VERIFIER_nondet_bool(void);
extern void __VERIFIER_assume(int);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

struct s {
  pthread_mutex_t m;
  int v;
};

void *f(void *p) {
  struct s*q = p;
  pthread_mutex_lock(&q->m);
  q->v++;
  pthread_mutex_unlock(&q->m);
  return 0;
}

int main() {
  pthread_t a, b;
  struct s*q = calloc(1, sizeof*q);
  struct s*r = calloc(1, sizeof*r);
  pthread_create(&a, 0, f, q);
  pthread_create(&b, 0, f, q);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(q->v >= 0);
  return 0;
}
