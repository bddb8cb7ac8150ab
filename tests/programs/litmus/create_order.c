// The new thread may run before its creator has its number.
// expect assertions: false
// expect no-data-race: false
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

pthread_t thread;

static void *work(void *unused) {
  assert(thread == pthread_self());
  return NULL;
}

int main(void) {
  pthread_create(&thread, NULL, work, NULL);
  pthread_join(thread, NULL);
  return 0;
}
