// Static initialisers of mutexes that are not normal.
// expect assertions: true
// expect no-deadlock: true
// expect lock-misuse: true
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
pthread_mutex_t checking = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;

static void *other(void *unused) {
  assert(pthread_mutex_trylock(&recursive) == EBUSY);
  assert(pthread_mutex_unlock(&recursive) == EPERM);
  assert(pthread_mutex_unlock(&checking) == EPERM);
  return NULL;
}

int main(void) {
  pthread_t thread;
  assert(pthread_mutex_lock(&recursive) == 0);
  assert(pthread_mutex_trylock(&recursive) == 0);
  assert(pthread_mutex_lock(&checking) == 0);
  assert(pthread_mutex_lock(&checking) == EDEADLK);
  assert(pthread_mutex_trylock(&checking) == EBUSY);
  assert(pthread_mutex_unlock(&recursive) == 0);
  pthread_create(&thread, NULL, other, NULL);
  pthread_join(thread, NULL);
  assert(pthread_mutex_unlock(&recursive) == 0);
  assert(pthread_mutex_unlock(&recursive) == EPERM);
  assert(pthread_mutex_unlock(&checking) == 0);
  assert(pthread_mutex_unlock(&checking) == EPERM);
  return 0;
}
