// cover_expansion_unsafe.c with the initial thread, the smallest of all, as the checker.
#include <assert.h>
#include <pthread.h>

extern _Bool __VERIFIER_nondet_bool(void);

int x, y;

void *writer(void *unused) {
  if (__VERIFIER_nondet_bool())
    x = 1;
  else
    y = 1;
  x = 0;
  return 0;
}

int main(void) {
  pthread_t thread;
  y = 0;
  pthread_create(&thread, 0, writer, 0);
  assert(x == 0);
  pthread_join(thread, 0);
  return 0;
}
