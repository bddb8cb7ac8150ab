// A thread that joins itself: glibc answers EDEADLK, POSIX leaves it undefined.
// expect lock-misuse: false
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

int main(void) {
  assert(pthread_join(pthread_self(), NULL) == EDEADLK);
  return 0;
}
