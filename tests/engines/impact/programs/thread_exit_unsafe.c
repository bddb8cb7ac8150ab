// The initial thread ends by pthread_exit; the others live on, and one fails.
#include <assert.h>
#include <pthread.h>

int x;

static void leave(void) { pthread_exit((void *)1); }

void *work(void *unused) {
  x = 1;
  assert(x == 2);
  leave();
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, work, 0);
  pthread_exit(0);
  return 0;
}
