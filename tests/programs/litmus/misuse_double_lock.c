// A normal mutex locked twice by its owner: misuse, and a deadlock.
// expect lock-misuse: false
// expect no-deadlock: false
// expect assertions: true
#include <assert.h>
#include <pthread.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

int main(void) {
  pthread_mutex_lock(&mutex);
  pthread_mutex_lock(&mutex);
  assert(0);
  return 0;
}
