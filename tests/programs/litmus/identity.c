// pthread_self is the number that the creator gets.
// expect assertions: true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static pthread_t seen;
static atomic_int is_seen;

static void *work(void *argument) {
  assert(!pthread_equal(pthread_self(), *(pthread_t *)argument));
  seen = pthread_self();
  atomic_store(&is_seen, 1);
  return NULL;
}

int main(void) {
  pthread_t thread, self = pthread_self();
  pthread_create(&thread, NULL, work, &self);
  while (!atomic_load(&is_seen)) {
  }
  assert(pthread_equal(seen, thread));
  assert(pthread_equal(pthread_self(), self));
  pthread_join(thread, NULL);
  return 0;
}
