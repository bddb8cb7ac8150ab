// Handlers run in reverse order when main returns.
// expect assertions: true
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static int order;

static void first(void) {
  assert(order == 2);
  order = 3;
}

static void second(void) {
  assert(order == 1);
  order = 2;
}

int main(void) {
  atexit(first);
  atexit(second);
  order = 1;
  return 0;
}
