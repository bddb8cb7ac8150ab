// A request of a thread to itself is acted upon at its next cancellation point.
// expect assertions: true
// expect unreach-call: true
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
extern void reach_error(void);

int before;

static void *work(void *unused) {
  char c = 0;
  assert(pthread_cancel(pthread_self()) == 0);
  before = 1;
  write(1, &c, 1);
  reach_error();
  return NULL;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, work, NULL);
  pthread_join(thread, NULL);
  assert(before);
  return 0;
}
