// A try fails exactly while the mutex is held.
// expect assertions: true
// expect no-data-race: true
// expect lock-misuse: true
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int x;

static void *increment(void *unused) {
  int result = pthread_mutex_trylock(&mutex);
  assert(result == 0 || result == EBUSY);
  if (result == 0) {
    x++;
    pthread_mutex_unlock(&mutex);
  }
  return NULL;
}

int main(void) {
  pthread_t thread_one, thread_two;
  pthread_create(&thread_one, NULL, increment, NULL);
  pthread_create(&thread_two, NULL, increment, NULL);
  pthread_join(thread_one, NULL);
  pthread_join(thread_two, NULL);
  assert(x == 1 || x == 2);
  return 0;
}
