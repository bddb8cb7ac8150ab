// A timed wait may time out though somebody signals.
// expect assertions: false
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void *signaller(void *unused) {
  pthread_mutex_lock(&mutex);
  pthread_cond_signal(&condition);
  pthread_mutex_unlock(&mutex);
  return NULL;
}

int main(void) {
  struct timespec deadline = {1, 0};
  pthread_t thread;
  pthread_mutex_lock(&mutex);
  pthread_create(&thread, NULL, signaller, NULL);
  assert(pthread_cond_timedwait(&condition, &mutex, &deadline) == 0);
  pthread_mutex_unlock(&mutex);
  pthread_join(thread, NULL);
  return 0;
}
