// The process may end before the assumption is looked at, which ends the wait.
// expect no-deadlock: true
#include <pthread.h>
#include <stdlib.h>

extern void __VERIFIER_assume(int);

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
volatile int x;

static void *writer(void *unused) {
  x = 1;
  __VERIFIER_assume(0);
  return NULL;
}
static void *ender(void *unused) {
  while (x == 0)
    ;
  exit(0);
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, NULL, writer, NULL);
  pthread_create(&two, NULL, ender, NULL);
  pthread_mutex_lock(&m);
  pthread_mutex_lock(&m);
  return 0;
}
