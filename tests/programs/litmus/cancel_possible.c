// printf may be a cancellation point, or not.
// expect assertions: false
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static void *work(void *unused) {
  pthread_cancel(pthread_self());
  printf("here\n");
  return NULL;
}

int main(void) {
  pthread_t thread;
  void *result;
  pthread_create(&thread, NULL, work, NULL);
  pthread_join(thread, &result);
  assert(result == NULL);
  return 0;
}
