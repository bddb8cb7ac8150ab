// A join returns after the end of the thread, not before.
// expect assertions: true
// expect no-data-race: true
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

int x;

static void *work(void *unused) {
  x = 1;
  x = 2;
  return NULL;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, work, NULL);
  pthread_join(thread, NULL);
  assert(x == 2);
  return 0;
}
