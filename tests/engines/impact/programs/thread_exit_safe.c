// pthread_exit inside a called function ends the thread: x = 2 never happens.
#include <assert.h>
#include <pthread.h>

int x;

static void leave(void) { pthread_exit((void *)1); }

void *work(void *unused) {
  x = 1;
  leave();
  x = 2;
  return 0;
}

int main(void) {
  pthread_t thread;
  void *result;
  pthread_create(&thread, 0, work, 0);
  pthread_join(thread, &result);
  assert(x == 1 && result == (void *)1);
  return 0;
}
