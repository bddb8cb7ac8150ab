// The assumption after the store fails, but the other thread may see the store before that: a
// failed assertion counts, whatever would have come after it.
#include <assert.h>
#include <pthread.h>

extern void __VERIFIER_assume(int);

int x;

void *writer(void *unused) {
  x = 1;
  __VERIFIER_assume(0);
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
