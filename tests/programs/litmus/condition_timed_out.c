// With nobody to signal a timed wait ends by its time-out.
// expect assertions: true
// expect no-deadlock: true
// expect lock-misuse: true
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

int main(void) {
  struct timespec deadline = {1, 0};
  pthread_mutex_lock(&mutex);
  int result = pthread_cond_timedwait(&condition, &mutex, &deadline);
  assert(result == 0 || result == ETIMEDOUT);
  assert(pthread_mutex_trylock(&mutex) == EBUSY);
  pthread_mutex_unlock(&mutex);
  return 0;
}
