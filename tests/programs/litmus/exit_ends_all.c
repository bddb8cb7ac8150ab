// A return from main ends threads that wait: that is no deadlock.
// expect assertions: true
// expect no-deadlock: true
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *unused) {
  pthread_mutex_lock(&mutex);
  assert(0);
  return NULL;
}

int main(void) {
  pthread_t thread;
  pthread_mutex_lock(&mutex);
  pthread_create(&thread, NULL, work, NULL);
  return 0;
}
