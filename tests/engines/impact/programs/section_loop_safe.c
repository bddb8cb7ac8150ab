// A loop inside an atomic section: no other thread sees it in the middle.
#include <assert.h>
#include <pthread.h>

extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

int x;

void *add(void *unused) {
  __VERIFIER_atomic_begin();
  for (int i = 0; i < 3; i++)
    x = x + 1;
  __VERIFIER_atomic_end();
  return 0;
}

void *check(void *unused) {
  int seen = x;
  assert(seen == 0 || seen == 3);
  return 0;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, add, 0);
  pthread_create(&two, 0, check, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  return 0;
}
