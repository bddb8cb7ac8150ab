// Nothing points to the argument of a thread that has taken it.
// expect valid-memsafety: false
#include <pthread.h>
#include <stdlib.h>

static pthread_t thread;
static void *work(void *argument) { return NULL; }

int main(void) {
  pthread_create(&thread, NULL, work, malloc(4));
  pthread_join(thread, NULL);
  return 0;
}
