// pthread_self is the number that the creator gets.
// expect assertions: true
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static void *work(void *argument) {
  assert(!pthread_equal(pthread_self(), *(pthread_t *)argument));
  return (void *)pthread_self();
}

int main(void) {
  pthread_t thread, self = pthread_self();
  void *result;
  pthread_create(&thread, NULL, work, &self);
  pthread_join(thread, &result);
  assert(pthread_equal((pthread_t)result, thread));
  assert(pthread_equal(pthread_self(), self));
  return 0;
}
