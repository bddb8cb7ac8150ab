// Three branches and assertions one after the other, each of which makes the labels stronger: a
// node that covers is covered itself later, and whatever it covered has to be looked at again.
#include <assert.h>
#include <pthread.h>

extern _Bool __VERIFIER_nondet_bool(void);

int a, step;

void *choose(void *unused) {
  if (__VERIFIER_nondet_bool())
    a = 1;
  else if (__VERIFIER_nondet_bool())
    a = 2;
  else
    a = 3;
  assert(a >= 1);
  step = 1;
  assert(a <= 3);
  step = 2;
  assert(a != 4);
  step = 3;
  return 0;
}

void *watch(void *unused) {
  int seen = step;
  assert(seen == 0 || a != 4);
  return 0;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, watch, 0);
  pthread_create(&two, 0, choose, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  return 0;
}
