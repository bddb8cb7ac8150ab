// The routine runs once, and has run when pthread_once returns.
// expect assertions: true
// expect no-data-race: true
// expect no-deadlock: true
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

pthread_once_t once = PTHREAD_ONCE_INIT;
int x;
static void initialise(void) { x++; }

static void *work(void *unused) {
  pthread_once(&once, initialise);
  assert(x == 1);
  return NULL;
}

int main(void) {
  pthread_t thread_one, thread_two;
  pthread_create(&thread_one, NULL, work, NULL);
  pthread_create(&thread_two, NULL, work, NULL);
  pthread_join(thread_one, NULL);
  pthread_join(thread_two, NULL);
  return 0;
}
