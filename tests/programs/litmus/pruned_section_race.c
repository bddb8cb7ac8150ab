// The section that writes x does not happen: its assumption fails.
// expect no-data-race: true
#include <pthread.h>
#include <stddef.h>

extern _Bool __VERIFIER_nondet_bool(void);
extern void __VERIFIER_assume(int);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

int x;

static void *work(void *unused) {
  __VERIFIER_atomic_begin();
  if (__VERIFIER_nondet_bool()) {
    x = 1;
    __VERIFIER_assume(0);
  }
  __VERIFIER_atomic_end();
  return NULL;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, work, NULL);
  x = 2;
  pthread_join(thread, NULL);
  return 0;
}
