// Every thread has its own copy of a thread-local variable, with its initial value.
// expect assertions: true
// expect no-data-race: true
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

_Thread_local int own = 5;

static void *work(void *unused) {
  assert(own == 5);
  own++;
  assert(own == 6);
  return NULL;
}

int main(void) {
  pthread_t one, two;
  own = 1;
  pthread_create(&one, NULL, work, NULL);
  pthread_create(&two, NULL, work, NULL);
  pthread_join(one, NULL);
  pthread_join(two, NULL);
  assert(own == 1);
  return 0;
}
