// Whoever draws first is served first.
// expect assertions: true
// expect no-data-race: true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

atomic_uint next_ticket, now_serving;
int x;

static void *increment(void *unused) {
  unsigned ticket = atomic_fetch_add(&next_ticket, 1);
  while (atomic_load(&now_serving) != ticket) {
  }
  x++;
  atomic_fetch_add(&now_serving, 1);
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
