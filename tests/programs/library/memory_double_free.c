// expect valid-memsafety: false
#include <stdlib.h>

int main(void) {
  char *block = malloc(4);
  free(block);
  free(block);
  return 0;
}
