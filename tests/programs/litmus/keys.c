// Each thread has its own value, and its destructor runs before the thread can be joined.
// expect assertions: true
// expect no-deadlock: true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

pthread_key_t key;
atomic_int destroyed;

static void destroy(void *value) {
  assert(pthread_getspecific(key) == NULL);
  destroyed += *(int *)value;
}

static int values[2] = {1, 2};

static void *work(void *argument) {
  assert(pthread_getspecific(key) == NULL);
  pthread_setspecific(key, argument);
  assert(pthread_getspecific(key) == argument);
  return NULL;
}

int main(void) {
  pthread_t one, two;
  pthread_key_create(&key, destroy);
  pthread_create(&one, NULL, work, &values[0]);
  pthread_create(&two, NULL, work, &values[1]);
  pthread_join(one, NULL);
  assert(destroyed == 1 || destroyed == 3);
  pthread_join(two, NULL);
  assert(destroyed == 3);
  assert(pthread_getspecific(key) == NULL);
  pthread_key_delete(key);
  return 0;
}
