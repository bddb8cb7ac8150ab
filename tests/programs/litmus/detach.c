// A detached thread runs on; nobody waits for it.
// expect assertions: true
// expect no-deadlock: true
// expect lock-misuse: true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

atomic_int x;

static void *work(void *unused) {
  x = 1;
  return NULL;
}

int main(void) {
  pthread_t thread;
  pthread_attr_t attributes;
  int state;
  pthread_create(&thread, NULL, work, NULL);
  assert(pthread_detach(thread) == 0);
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_getdetachstate(&attributes, &state);
  assert(state == PTHREAD_CREATE_DETACHED);
  pthread_create(&thread, &attributes, work, NULL);
  pthread_attr_destroy(&attributes);
  while (x == 0) {
  }
  assert(x == 1);
  return 0;
}
