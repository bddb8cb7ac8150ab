// Nothing points to a result that whoever joined did not want.
// expect valid-memsafety: false
#include <pthread.h>
#include <stdlib.h>

static pthread_t thread;
static void *work(void *argument) { return malloc(4); }

int main(void) {
  pthread_create(&thread, NULL, work, NULL);
  pthread_join(thread, NULL);
  return 0;
}
