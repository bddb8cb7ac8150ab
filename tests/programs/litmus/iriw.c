// Independent reads of independent writes: all readers see one order.
// expect assertions: true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

atomic_int x, y;
int a, b, c, d;

static void *write_x(void *unused) {
  atomic_store(&x, 1);
  return NULL;
}

static void *write_y(void *unused) {
  atomic_store(&y, 1);
  return NULL;
}

static void *read_xy(void *unused) {
  a = atomic_load(&x);
  b = atomic_load(&y);
  return NULL;
}

static void *read_yx(void *unused) {
  c = atomic_load(&y);
  d = atomic_load(&x);
  return NULL;
}

int main(void) {
  pthread_t thread_one, thread_two, thread_three, thread_four;
  pthread_create(&thread_one, NULL, write_x, NULL);
  pthread_create(&thread_two, NULL, write_y, NULL);
  pthread_create(&thread_three, NULL, read_xy, NULL);
  pthread_create(&thread_four, NULL, read_yx, NULL);
  pthread_join(thread_one, NULL);
  pthread_join(thread_two, NULL);
  pthread_join(thread_three, NULL);
  pthread_join(thread_four, NULL);
  assert(!(a == 1 && b == 0 && c == 1 && d == 0));
  return 0;
}
