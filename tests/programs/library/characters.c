// <ctype.h>, as functions and through glibc's tables.
// expect assertions: true
#include <assert.h>
#include <ctype.h>

int main(void) {
  assert(isdigit('5') && !isdigit('a') && isalpha('a') && !isalpha('1'));
  assert(isspace(' ') && isspace('\n') && !isspace('x') && isupper('A') && !isupper('a'));
  assert(ispunct('!') && !ispunct('a') && isxdigit('f') && !isxdigit('g'));
  assert(iscntrl(127) && isprint(' ') && !isgraph(' ') && isalnum('Z') && isblank('\t'));
  assert(toupper('a') == 'A' && tolower('Z') == 'z' && toupper('1') == '1');
  return 0;
}
