#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

extern _Bool __VERIFIER_nondet_bool(void);
extern void __VERIFIER_assume(int);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

struct {
  int v;
  pthread_mutex_t m;
} s[2];

void *f(void *p) {
  long i = (long)p;
  pthread_mutex_lock(&s[0].m);
  s[i].v++;
  pthread_mutex_unlock(&s[0].m);
  return 0;
}

int main() {
  pthread_t a[2];
  for (long i = 0;i < 2;i++)pthread_create(&a[i], 0, f, (void*)i);
  s[1].v++;
  return 0;
}
