// exit in one thread ends the process: nothing after it happens, in any thread.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

int x;

void *quit(void *unused) {
  exit(0);
  x = 1;
  return 0;
}

void *check(void *unused) {
  assert(x == 0);
  return 0;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, quit, 0);
  pthread_create(&two, 0, check, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  return 0;
}
