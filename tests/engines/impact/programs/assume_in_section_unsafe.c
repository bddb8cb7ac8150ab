// The store and the assumption that fails are two atomic sections: the first is seen.
#include <assert.h>
#include <pthread.h>

extern void __VERIFIER_assume(int);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

int x;

void *writer(void *unused) {
  __VERIFIER_atomic_begin();
  x = 1;
  __VERIFIER_atomic_end();
  __VERIFIER_atomic_begin();
  __VERIFIER_assume(0);
  __VERIFIER_atomic_end();
  return 0;
}

void *check(void *unused) {
  assert(x == 0);
  return 0;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, writer, 0);
  pthread_create(&two, 0, check, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  return 0;
}
