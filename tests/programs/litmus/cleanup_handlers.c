// pthread_exit is not used between push and pop: the handlers run where pop says so.
// expect assertions: true
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static int calls;
static void handler(void *argument) { calls += *(int *)argument; }

static void *work(void *unused) {
  int one = 1, ten = 10;
  pthread_cleanup_push(handler, &one);
  pthread_cleanup_push(handler, &ten);
  calls += 100;
  pthread_cleanup_pop(0);
  pthread_cleanup_pop(1);
  return NULL;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, work, NULL);
  pthread_join(thread, NULL);
  assert(calls == 101);
  return 0;
}
