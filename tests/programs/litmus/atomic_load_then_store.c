// Two atomic accesses are not one.
// expect assertions: false
// expect no-data-race: true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

atomic_int x;

static void *increment(void *unused) {
  x = x + 1;
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
