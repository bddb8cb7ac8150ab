// A line of input can have any characters, also zeros.
// expect assertions: false
#include <assert.h>
#include <stdio.h>

int main(void) {
  char line[2];
  if (fgets(line, 2, stdin)) assert(line[0] != 0);
  return 0;
}
