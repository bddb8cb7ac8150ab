// A spin lock from __sync_lock_test_and_set.
// expect assertions: true
// expect no-data-race: true
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

volatile int flag;
int x;

static void *increment(void *unused) {
  while (__sync_lock_test_and_set(&flag, 1)) {
  }
  x++;
  __sync_lock_release(&flag);
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
