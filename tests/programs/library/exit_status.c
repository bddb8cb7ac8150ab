// exit, handlers and errors: nothing after exit runs.
// expect assertions: true
#include <assert.h>
#include <stdlib.h>

static void handler(void) { _Exit(3); }

int main(void) {
  atexit(handler);
  if (getenv("SOME_VARIABLE") == NULL) exit(1);
  assert(0);
}
