// uncovered_subtree_unsafe.c with the bug in the branch that comes first.
#include <assert.h>
#include <pthread.h>

extern _Bool __VERIFIER_nondet_bool(void);

int a, step, noise;

void *distract(void *unused) {
  noise = 1;
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, distract, 0);
  if (__VERIFIER_nondet_bool())
    a = 2;
  else
    a = 1;
  assert(a >= 1);
  step = 1;
  assert(noise <= 1);
  step = step + 1;
  step = step + 1;
  assert(a != 2);
  pthread_join(thread, 0);
  return 0;
}
