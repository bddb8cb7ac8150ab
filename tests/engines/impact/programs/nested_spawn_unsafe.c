// A thread that another thread creates and does not join: it may run late, or in between.
#include <assert.h>
#include <pthread.h>

int x;

void *inner(void *unused) {
  x = x + 1;
  return 0;
}

void *outer(void *unused) {
  pthread_t thread;
  x = 1;
  pthread_create(&thread, 0, inner, 0);
  x = x * 2;
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, outer, 0);
  pthread_join(thread, 0);
  assert(x == 4);
  return 0;
}
