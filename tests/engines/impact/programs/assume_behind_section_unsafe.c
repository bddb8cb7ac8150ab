// The section has a loop in it, so that it is executed in several blocks. The assumption fails in
// the last one, which writes nothing itself; what the section has written is there all the same.
#include <assert.h>
#include <pthread.h>

extern void __VERIFIER_assume(int);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

int x, y;

void *work(void *unused) {
  __VERIFIER_atomic_begin();
  x = 1;
  for (int i = 0; i < 3; i++)
    if (y)
      break;
  __VERIFIER_atomic_end();
  __VERIFIER_assume(0);
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, work, 0);
  assert(x == 0);
  return 0;
}
