// Read-modify-write is one step, in all its spellings.
// expect assertions: true
// expect no-data-race: true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

atomic_int x;
int y;

static void *increment(void *unused) {
  atomic_fetch_add(&x, 1);
  x++;
  __atomic_add_fetch(&y, 1, __ATOMIC_RELAXED);
  __sync_fetch_and_add(&y, 1);
  return NULL;
}

int main(void) {
  pthread_t thread_one, thread_two;
  pthread_create(&thread_one, NULL, increment, NULL);
  pthread_create(&thread_two, NULL, increment, NULL);
  pthread_join(thread_one, NULL);
  pthread_join(thread_two, NULL);
  assert(x == 4 && y == 4);
  return 0;
}
