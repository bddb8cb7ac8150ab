// One thread reads a byte in the middle of what the other one writes.
#include <assert.h>
#include <pthread.h>

int x;

void *check(void *unused) {
  assert(((char *)&x)[1] == 0);
  return 0;
}

void *writer(void *unused) {
  x = 255;
  return 0;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, check, 0);
  pthread_create(&two, 0, writer, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  return 0;
}
