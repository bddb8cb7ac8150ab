// One of them may run first as a whole.
// expect assertions: false
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

atomic_int x, y;
int a, b;

static void *left(void *unused) {
  a = atomic_load(&x);
  atomic_store(&y, 1);
  return NULL;
}

static void *right(void *unused) {
  b = atomic_load(&y);
  atomic_store(&x, 1);
  return NULL;
}

int main(void) {
  pthread_t thread_one, thread_two;
  pthread_create(&thread_one, NULL, left, NULL);
  pthread_create(&thread_two, NULL, right, NULL);
  pthread_join(thread_one, NULL);
  pthread_join(thread_two, NULL);
  assert(!(a == 0 && b == 1));
  return 0;
}
