// A mutex makes the increment one step for all who use it.
// expect assertions: true
// expect no-data-race: true
// expect no-deadlock: true
// expect lock-misuse: true
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int x;

static void *increment(void *unused) {
  pthread_mutex_lock(&mutex);
  x++;
  pthread_mutex_unlock(&mutex);
  return NULL;
}

int main(void) {
  pthread_t thread_one, thread_two;
  pthread_create(&thread_one, NULL, increment, NULL);
  pthread_create(&thread_two, NULL, increment, NULL);
  pthread_join(thread_one, NULL);
  pthread_join(thread_two, NULL);
  assert(x == 2);
  return 0;
}
