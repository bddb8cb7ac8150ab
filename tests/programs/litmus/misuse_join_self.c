// A thread that joins itself gets EDEADLK; it is misuse all the same.
// expect lock-misuse: false
// expect assertions: true
// expect no-deadlock: true
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

int main(void) {
  assert(pthread_join(pthread_self(), NULL) == EDEADLK);
  return 0;
}
