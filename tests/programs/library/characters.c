// <ctype.h>, as functions and through glibc's tables.
// expect assertions: true
#include <assert.h>
#include <ctype.h>

static int is_in(int c, int bit) { return (*__ctype_b_loc())[c] >> bit & 1; }

int main(void) {
  for (int c = -1; c < 256; c++) {
    assert(is_in(c, 8) == !!(isupper)(c) && is_in(c, 9) == !!(islower)(c));
    assert(is_in(c, 10) == !!(isalpha)(c) && is_in(c, 11) == !!(isdigit)(c));
    assert(is_in(c, 12) == !!(isxdigit)(c) && is_in(c, 13) == !!(isspace)(c));
    assert(is_in(c, 14) == !!(isprint)(c) && is_in(c, 15) == !!(isgraph)(c));
    assert(is_in(c, 0) == !!(isblank)(c) && is_in(c, 1) == !!(iscntrl)(c));
    assert(is_in(c, 2) == !!(ispunct)(c) && is_in(c, 3) == !!(isalnum)(c));
    assert((*__ctype_tolower_loc())[c] == (tolower)(c));
    assert((*__ctype_toupper_loc())[c] == (toupper)(c));
  }
  assert((*__ctype_toupper_loc())[-2] == 254 && !is_in(-128, 14)); // as glibc has it
  assert(isdigit('5') && !isdigit('a') && isalpha('a') && !isalpha('1'));
  assert(isspace(' ') && isspace('\n') && !isspace('x') && isupper('A') && !isupper('a'));
  assert(ispunct('!') && !ispunct('a') && isxdigit('f') && !isxdigit('g'));
  assert(iscntrl(127) && isprint(' ') && !isgraph(' ') && isalnum('Z') && isblank('\t'));
  assert(toupper('a') == 'A' && tolower('Z') == 'z' && toupper('1') == '1');
  return 0;
}
