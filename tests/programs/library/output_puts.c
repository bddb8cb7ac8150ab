// Output reads what it prints: here beyond the end of the array.
// expect valid-memsafety: false
#include <stdio.h>
#include <unistd.h>

char text[3] = "abc";

int main(void) {
  puts(text);
  return 0;
}
