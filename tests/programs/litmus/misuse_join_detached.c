// A detached thread is joined.
// expect lock-misuse: false
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static void *work(void *unused) { return NULL; }

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, work, NULL);
  pthread_detach(thread);
  pthread_join(thread, NULL);
  return 0;
}
