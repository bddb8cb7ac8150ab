// An increment is a read and a write: one of two may be lost.
// expect assertions: false
// expect no-data-race: false
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
  assert(x == 2);
  return 0;
}
