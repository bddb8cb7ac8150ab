// A result that can still be joined is not lost, and neither is one that was joined.
// expect valid-memsafety: true
#include <pthread.h>
#include <stdlib.h>

static pthread_t one, two;
static void *result;
static void *work(void *argument) { return malloc(4); }

int main(void) {
  pthread_create(&one, NULL, work, NULL);
  pthread_create(&two, NULL, work, NULL);
  pthread_join(one, &result);
  return 0;
}
