// A destructor that sets the value again is called again, four times at most.
// expect assertions: true
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

pthread_key_t key, without;
int calls;

static void destroy(void *value) {
  calls++;
  pthread_setspecific(key, value);
}

static void *work(void *unused) {
  static int some;
  pthread_setspecific(key, &some);
  pthread_setspecific(without, &some);
  pthread_exit(NULL);
}

int main(void) {
  pthread_t thread;
  pthread_key_create(&key, destroy);
  pthread_key_create(&without, NULL);
  pthread_create(&thread, NULL, work, NULL);
  pthread_join(thread, NULL);
  assert(calls == 4);
  return 0;
}
