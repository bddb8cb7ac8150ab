// A program's own definitions of __VERIFIER_atomic_begin and end are atomic functions like others.
// expect assertions: true
#include <assert.h>
#include <pthread.h>
extern void __VERIFIER_assume(int);

int lock, inside;

void __VERIFIER_atomic_begin(void) {
  __VERIFIER_assume(lock == 0);
  lock = 1;
}
void __VERIFIER_atomic_end(void) {
  __VERIFIER_assume(lock == 1);
  lock = 0;
}

static void *worker(void *argument) {
  __VERIFIER_atomic_begin();
  inside = inside + 1;
  assert(inside == 1);
  inside = inside - 1;
  __VERIFIER_atomic_end();
  return 0;
}

int main(void) {
  pthread_t first, second;
  pthread_create(&first, 0, worker, 0);
  pthread_create(&second, 0, worker, 0);
  pthread_join(first, 0);
  pthread_join(second, 0);
  return 0;
}
