// One thread counts for ever in a local variable, the other is right. The counter takes 2^32
// values, but nobody looks at it: x is only written once, by the thread that reads it.
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
  assert(x == 1);
  return 0;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, spin, 0);
  pthread_create(&two, 0, work, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  return 0;
}
