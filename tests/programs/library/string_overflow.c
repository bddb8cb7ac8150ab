// The zero at the end has no room.
// expect valid-memsafety: false
#include <string.h>

int main(void) {
  char text[3];
  strcpy(text, "abc");
  return text[0];
}
