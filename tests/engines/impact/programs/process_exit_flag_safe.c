// The thread that would fail waits for a flag that is set only after exit; the loop never ends, the
// process does.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

_Atomic int flag;

void *quit(void *unused) {
  exit(0);
  flag = 1;
  return 0;
}

void *fail(void *unused) {
  while (!flag) {
  }
  assert(0);
  return 0;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, quit, 0);
  pthread_create(&two, 0, fail, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  return 0;
}
