// A thread unlocks a mutex that another may hold.
// expect lock-misuse: false
// expect no-deadlock: true
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *unlocker(void *unused) {
  pthread_mutex_unlock(&mutex);
  return NULL;
}

int main(void) {
  pthread_t thread;
  pthread_mutex_lock(&mutex);
  pthread_create(&thread, NULL, unlocker, NULL);
  pthread_join(thread, NULL);
  pthread_mutex_lock(&mutex);
  return 0;
}
