// Executions in which an assumption fails do not exist.
// expect assertions: true
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

extern void __VERIFIER_assume(int);

int data, flag;

static void *writer(void *unused) {
  data = 1;
  flag = 1;
  return NULL;
}

static void *reader(void *unused) {
  __VERIFIER_assume(flag);
  assert(data == 1);
  return NULL;
}

int main(void) {
  pthread_t thread_one, thread_two;
  pthread_create(&thread_one, NULL, writer, NULL);
  pthread_create(&thread_two, NULL, reader, NULL);
  pthread_join(thread_one, NULL);
  pthread_join(thread_two, NULL);
  return 0;
}
