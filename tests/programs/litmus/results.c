// Arguments go in, results come out, by return and by pthread_exit.
// expect assertions: true
// expect no-deadlock: true
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static void leave(int *where) {
  *where += 10;
  pthread_exit(where);
}

static void *by_exit(void *argument) {
  leave(argument);
  return NULL;
}

static void *by_return(void *argument) {
  *(int *)argument += 20;
  return argument;
}

int main(void) {
  pthread_t one, two;
  int a = 1, b = 2;
  void *result;
  pthread_create(&one, NULL, by_exit, &a);
  pthread_create(&two, NULL, by_return, &b);
  assert(pthread_join(one, &result) == 0);
  assert(result == &a && a == 11);
  assert(pthread_join(two, &result) == 0);
  assert(result == &b && b == 22);
  return 0;
}
