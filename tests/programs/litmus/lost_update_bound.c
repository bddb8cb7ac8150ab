// At most one of two increments is lost.
// expect assertions: true
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

int x;

static void *increment(void *unused) {
  x++;
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
