// A spin lock from atomic_flag.
// expect assertions: true
// expect no-data-race: true
// expect no-deadlock: true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

atomic_flag flag = ATOMIC_FLAG_INIT;
int x;

static void *increment(void *unused) {
  while (atomic_flag_test_and_set_explicit(&flag, memory_order_acquire)) {
  }
  x++;
  atomic_flag_clear_explicit(&flag, memory_order_release);
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
