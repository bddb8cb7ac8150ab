// Either write can be the last.
// expect assertions: false
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

atomic_int x;

static void *one(void *unused) {
  atomic_store(&x, 1);
  return NULL;
}

static void *two(void *unused) {
  atomic_store(&x, 2);
  return NULL;
}

int main(void) {
  pthread_t thread_one, thread_two;
  pthread_create(&thread_one, NULL, one, NULL);
  pthread_create(&thread_two, NULL, two, NULL);
  pthread_join(thread_one, NULL);
  pthread_join(thread_two, NULL);
  assert(x == 1 || x == 2);
  assert(x == 2);
  return 0;
}
