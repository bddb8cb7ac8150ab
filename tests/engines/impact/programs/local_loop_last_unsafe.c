// local_loop_unsafe.c with the threads in the other order.
#include <assert.h>
#include <pthread.h>

int x;

void *spin(void *unused) {
  unsigned i = 0;
  while (1)
    i++;
  return 0;
}

void *work(void *unused) {
  x = 1;
  assert(x == 0);
  return 0;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, work, 0);
  pthread_create(&two, 0, spin, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  return 0;
}
