// A thread can join the initial thread once that has called pthread_exit.
// expect assertions: true
// expect no-deadlock: true
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

pthread_t initial;
int x;

static void *work(void *unused) {
  void *result;
  pthread_join(initial, &result);
  assert(result == &x && x == 1);
  return NULL;
}

int main(void) {
  pthread_t thread;
  initial = pthread_self();
  pthread_create(&thread, NULL, work, NULL);
  x = 1;
  pthread_exit(&x);
}
