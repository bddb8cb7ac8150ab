// Output of valid memory has no effect.
// expect valid-memsafety: true
// expect assertions: true
#include <assert.h>
#include <stdio.h>
#include <unistd.h>

char text[4] = "abc";

int main(void) {
  puts(text);
  fputs("", stdout);
  perror(NULL);
  fwrite(text, 2, 2, stdout);
  write(1, text, 4);
  assert(text[0] == 'a');
  return 0;
}
