// Its owner can lock a recursive mutex again; others get it when all locks are undone.
// expect assertions: true
// expect no-data-race: true
// expect no-deadlock: true
// expect lock-misuse: true
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

pthread_mutex_t mutex;
int x;

static void *increment(void *unused) {
  pthread_mutex_lock(&mutex);
  pthread_mutex_lock(&mutex);
  int seen = x;
  pthread_mutex_unlock(&mutex);
  x = seen + 1;
  pthread_mutex_unlock(&mutex);
  return NULL;
}

int main(void) {
  pthread_t one, two;
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
  pthread_create(&one, NULL, increment, NULL);
  pthread_create(&two, NULL, increment, NULL);
  pthread_join(one, NULL);
  pthread_join(two, NULL);
  assert(x == 2);
  pthread_mutex_destroy(&mutex);
  return 0;
}
