// Two threads that join each other wait for ever.
// expect no-deadlock: false
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

pthread_t one, two;
atomic_int ready;

static void *left(void *unused) {
  while (!ready) {
  }
  pthread_join(two, NULL);
  return NULL;
}

static void *right(void *unused) {
  while (!ready) {
  }
  pthread_join(one, NULL);
  return NULL;
}

int main(void) {
  pthread_create(&one, NULL, left, NULL);
  pthread_create(&two, NULL, right, NULL);
  ready = 1;
  pthread_exit(NULL);
}
