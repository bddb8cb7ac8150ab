// Section IV-C: the assertion fails only right after `x = 1`. The two branches of the writer meet
// before `x = 0`. The node after `y = 1` needs no expansion of the checker, which is independent of
// it; the node after `x = 1` does. If the latter is covered by the former, the former has to be
// expanded with the checker after all.
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
  pthread_create(&one, 0, check, 0);
  pthread_create(&two, 0, writer, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  return 0;
}
