// Two paths lead to the same place: on the first the writer hits another element than the one that
// is looked at, on the second it may be the same. Nothing but the reduction needs to know: that i
// differs from 1 is in no label unless it is put there when a step is left out because of it.
#include <assert.h>
#include <pthread.h>

extern _Bool __VERIFIER_nondet_bool(void);
extern unsigned char __VERIFIER_nondet_uchar(void);
extern void __VERIFIER_assume(int);

int v[4];
unsigned char i;

void *check(void *unused) {
  assert(v[1] == 0);
  return 0;
}

void *writer(void *unused) {
  v[i] = 1;
  return 0;
}

int main(void) {
  pthread_t one, two;
  i = __VERIFIER_nondet_uchar();
  __VERIFIER_assume(i < 4);
  if (__VERIFIER_nondet_bool()) __VERIFIER_assume(i != 1);
  pthread_create(&one, 0, check, 0);
  pthread_create(&two, 0, writer, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  return 0;
}
