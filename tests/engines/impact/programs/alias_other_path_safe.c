// On both paths the threads access different elements, though not the same ones: the labels have to
// say that i differs from j, and no more.
#include <assert.h>
#include <pthread.h>

extern _Bool __VERIFIER_nondet_bool(void);

int v[2];
int i, j;

void *check(void *unused) {
  assert(v[j] == 0);
  return 0;
}

void *writer(void *unused) {
  v[i] = 1;
  v[i] = 0;
  return 0;
}

int main(void) {
  pthread_t one, two;
  if (__VERIFIER_nondet_bool()) {
    i = 0;
    j = 1;
  } else {
    i = 1;
    j = 0;
  }
  pthread_create(&one, 0, check, 0);
  pthread_create(&two, 0, writer, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  return 0;
}
