// Where cancellation is disabled, and between cancellation points, a thread goes on.
// expect assertions: true
#include <assert.h>
#include <pthread.h>
#include <unistd.h>

int done;

static void *work(void *unused) {
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
  sleep(1);
  pthread_testcancel();
  done = 1;
  pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
  done = 2;
  pthread_testcancel();
  done = 3;
  return NULL;
}

int main(void) {
  pthread_t thread;
  void *result;
  pthread_create(&thread, NULL, work, NULL);
  pthread_cancel(thread);
  pthread_join(thread, &result);
  assert(done == (result == PTHREAD_CANCELED ? 2 : 3));
  return 0;
}
