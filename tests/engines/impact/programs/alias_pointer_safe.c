// Two pointers that never point to the same variable.
#include <assert.h>
#include <pthread.h>

extern _Bool __VERIFIER_nondet_bool(void);

int a, b;
int *p = &a, *q = &b;

void *check(void *unused) {
  assert(*q == 0);
  return 0;
}

void *writer(void *unused) {
  *p = 1;
  *p = 0;
  return 0;
}

int main(void) {
  pthread_t one, two;
  if (__VERIFIER_nondet_bool()) {
    p = &b;
    q = &a;
  }
  pthread_create(&one, 0, check, 0);
  pthread_create(&two, 0, writer, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  return 0;
}
