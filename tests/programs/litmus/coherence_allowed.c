// A reader may see both writes.
// expect assertions: false
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

atomic_int x;
int first, second;

static void *writer(void *unused) {
  atomic_store(&x, 1);
  atomic_store(&x, 2);
  return NULL;
}

static void *reader(void *unused) {
  first = atomic_load(&x);
  second = atomic_load(&x);
  return NULL;
}

int main(void) {
  pthread_t thread_one, thread_two;
  pthread_create(&thread_one, NULL, writer, NULL);
  pthread_create(&thread_two, NULL, reader, NULL);
  pthread_join(thread_one, NULL);
  pthread_join(thread_two, NULL);
  assert(!(first == 1 && second == 2));
  return 0;
}
