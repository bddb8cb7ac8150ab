// Section IV-C with nothing in one branch: the node that covers comes from a step that no other
// thread can notice.
#include <assert.h>
#include <pthread.h>

extern _Bool __VERIFIER_nondet_bool(void);

int x;

void *check(void *unused) {
  assert(x == 0);
  return 0;
}

void *writer(void *unused) {
  if (__VERIFIER_nondet_bool())
    x = 1;
  x = 0;
  return 0;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, check, 0);
  pthread_create(&two, 0, writer, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  return 0;
}
