// exit in any thread ends the whole program.
// expect assertions: true
// expect no-deadlock: true
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static void *work(void *unused) {
  exit(0);
  return NULL;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, work, NULL);
  pthread_join(thread, NULL);
  assert(0);
  return 0;
}
