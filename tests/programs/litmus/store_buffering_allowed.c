// Both may see each other.
// expect assertions: false
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

atomic_int x, y;
int a, b;

static void *left(void *unused) {
  atomic_store(&x, 1);
  a = atomic_load(&y);
  return NULL;
}

static void *right(void *unused) {
  atomic_store(&y, 1);
  b = atomic_load(&x);
  return NULL;
}

int main(void) {
  pthread_t thread_one, thread_two;
  pthread_create(&thread_one, NULL, left, NULL);
  pthread_create(&thread_two, NULL, right, NULL);
  pthread_join(thread_one, NULL);
  pthread_join(thread_two, NULL);
  assert(!(a == 1 && b == 1));
  return 0;
}
