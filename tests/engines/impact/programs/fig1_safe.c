// After Figure 1 of the paper: because i differs from j, the first writes of the two threads are
// independent. Only one thread writes v[j], so it ends as -1 in every interleaving.
#include <assert.h>
#include <pthread.h>

extern unsigned char __VERIFIER_nondet_uchar(void);
extern void __VERIFIER_assume(int);

enum { LENGTH = 3 };

int v[LENGTH];
int i, j;

void *fill(void *unused) {
  v[i] = 1;
  v[i] = v[i] + 1;
  v[i] = v[j];
  return 0;
}

void *lower(void *unused) {
  v[j] = -2;
  v[j] = v[j] + 1;
  v[i] = v[i] + 1;
  return 0;
}

int main(void) {
  pthread_t one, two;
  i = __VERIFIER_nondet_uchar();
  __VERIFIER_assume(i < LENGTH);
  j = __VERIFIER_nondet_uchar();
  __VERIFIER_assume(j < LENGTH);
  __VERIFIER_assume(i != j);
  v[i] = 0;
  v[j] = 0;
  pthread_create(&one, 0, fill, 0);
  pthread_create(&two, 0, lower, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  assert(v[j] == -1);
  return 0;
}
