// A _Bool is 0 or 1, whatever its byte holds.
#include <assert.h>
#include <pthread.h>

union {
  _Bool b;
  unsigned char c;
} u;

void *work(void *unused) {
  u.c = 2;
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, work, 0);
  int value = u.b;
  assert(value != 1);
  return 0;
}
