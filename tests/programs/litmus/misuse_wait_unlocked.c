// A wait with a mutex that the thread does not hold.
// expect lock-misuse: false
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void *signaller(void *unused) {
  pthread_cond_signal(&condition);
  return NULL;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, signaller, NULL);
  pthread_cond_wait(&condition, &mutex);
  return 0;
}
