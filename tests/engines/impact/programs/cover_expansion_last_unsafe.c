// cover_expansion_unsafe.c with the checker as the last thread instead of the first: with the
// threads in the other order it is the writer that is left out.
#include <assert.h>
#include <pthread.h>

extern _Bool __VERIFIER_nondet_bool(void);

int x, y;

void *check(void *unused) {
  assert(x == 0);
  return 0;
}

void *writer(void *unused) {
  if (__VERIFIER_nondet_bool())
    x = 1;
  else
    y = 1;
  x = 0;
  return 0;
}

int main(void) {
  pthread_t one, two;
  y = 0;
  pthread_create(&one, 0, writer, 0);
  pthread_create(&two, 0, check, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  return 0;
}
