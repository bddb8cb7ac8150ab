// As lost_argument, with a C11 thread.
// expect valid-memsafety: false
#include <stdlib.h>
#include <threads.h>

static thrd_t thread;
static int work(void *argument) { return 0; }

int main(void) {
  thrd_create(&thread, work, malloc(4));
  thrd_join(thread, NULL);
  return 0;
}
