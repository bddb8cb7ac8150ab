// The other threads get to their end after pthread_exit in main.
// expect assertions: false
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

atomic_int main_is_at_its_end;

static void *work(void *unused) {
  assert(!main_is_at_its_end);
  return NULL;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, work, NULL);
  main_is_at_its_end = 1;
  pthread_exit(NULL);
}
