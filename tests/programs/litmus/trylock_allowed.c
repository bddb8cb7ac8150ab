// A try may fail where another thread works.
// expect assertions: false
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *unused) {
  assert(pthread_mutex_trylock(&mutex) == 0);
  pthread_mutex_unlock(&mutex);
  return NULL;
}

int main(void) {
  pthread_t thread_one, thread_two;
  pthread_create(&thread_one, NULL, work, NULL);
  pthread_create(&thread_two, NULL, work, NULL);
  pthread_join(thread_one, NULL);
  pthread_join(thread_two, NULL);
  return 0;
}
