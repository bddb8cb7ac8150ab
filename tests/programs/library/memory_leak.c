// A block that nobody frees, and that nothing points to at the end.
// expect valid-memsafety: false
// expect assertions: true
#include <stdlib.h>

int main(void) {
  char *block = malloc(4);
  block[0] = 1;
  block = NULL;
  return block != NULL;
}
