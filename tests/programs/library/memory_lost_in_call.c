// A temporary keeps no memory: the function has dropped its argument.
// expect valid-memsafety: false
#include <stdlib.h>

static void drop(int *block) { block = NULL; }

int main(void) {
  drop(malloc(4));
  exit(0);
}
