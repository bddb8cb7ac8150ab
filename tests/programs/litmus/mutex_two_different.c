// Two mutexes protect nothing.
// expect assertions: false
// expect no-data-race: false
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
int x;

static void *left(void *unused) {
  pthread_mutex_lock(&one);
  x++;
  pthread_mutex_unlock(&one);
  return NULL;
}

static void *right(void *unused) {
  pthread_mutex_lock(&other);
  x++;
  pthread_mutex_unlock(&other);
  return NULL;
}

int main(void) {
  pthread_t thread_one, thread_two;
  pthread_create(&thread_one, NULL, left, NULL);
  pthread_create(&thread_two, NULL, right, NULL);
  pthread_join(thread_one, NULL);
  pthread_join(thread_two, NULL);
  assert(x == 2);
  return 0;
}
