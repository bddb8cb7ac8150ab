// An assumption that fails in every execution before the assertion is reached.
#include <assert.h>
#include <pthread.h>

extern void __VERIFIER_assume(int);

int x;

void *writer(void *unused) {
  x = 1;
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, writer, 0);
  pthread_join(thread, 0);
  __VERIFIER_assume(x == 0);
  assert(0);
  return 0;
}
