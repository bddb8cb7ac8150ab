/* <ctype.h> in the C locale. */
#include "plait.h"

int isdigit(int c) { return c >= '0' && c <= '9'; }
int isupper(int c) { return c >= 'A' && c <= 'Z'; }
int islower(int c) { return c >= 'a' && c <= 'z'; }
int isalpha(int c) { return isupper(c) || islower(c); }
int isalnum(int c) { return isalpha(c) || isdigit(c); }
int isxdigit(int c) { return isdigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
int isblank(int c) { return c == ' ' || c == '\t'; }
int isspace(int c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
int iscntrl(int c) { return (c >= 0 && c < 32) || c == 127; }
int isprint(int c) { return c >= 32 && c < 127; }
int isgraph(int c) { return c > 32 && c < 127; }
int ispunct(int c) { return isgraph(c) && !isalnum(c); }
int isascii(int c) { return (c & ~127) == 0; }
int toascii(int c) { return c & 127; }
int tolower(int c) { return isupper(c) ? c + ('a' - 'A') : c; }
int toupper(int c) { return islower(c) ? c - ('a' - 'A') : c; }

/* glibc's macros index tables through these, with classes as bits; -128 to 255 are valid. */
static unsigned short __plait_classes[384];
static int __plait_lowers[384];
static int __plait_uppers[384];
static const unsigned short *__plait_classes_at = __plait_classes + 128;
static const int *__plait_lowers_at = __plait_lowers + 128;
static const int *__plait_uppers_at = __plait_uppers + 128;
static int __plait_filled;

static unsigned short __plait_class(int c) {
  int bits = (isupper(c) ? 0x100 : 0) | (islower(c) ? 0x200 : 0) | (isalpha(c) ? 0x400 : 0) |
             (isdigit(c) ? 0x800 : 0) | (isxdigit(c) ? 0x1000 : 0) | (isspace(c) ? 0x2000 : 0) |
             (isprint(c) ? 0x4000 : 0) | (isgraph(c) ? 0x8000 : 0) | (isblank(c) ? 0x1 : 0) |
             (iscntrl(c) ? 0x2 : 0) | (ispunct(c) ? 0x4 : 0) | (isalnum(c) ? 0x8 : 0);
  return (unsigned short)bits;
}

static void __plait_fill(void) {
  int c;
  __plait_atomic_begin();
  if (!__plait_filled) {
    __plait_filled = 1;
    for (c = -128; c < 256; c = c + 1) {
      __plait_classes[c + 128] = __plait_class(c);
      __plait_lowers[c + 128] = tolower(c);
      __plait_uppers[c + 128] = toupper(c);
    }
  }
  __plait_atomic_end();
}
const unsigned short **__ctype_b_loc(void) {
  __plait_fill();
  return &__plait_classes_at;
}
const int **__ctype_tolower_loc(void) {
  __plait_fill();
  return &__plait_lowers_at;
}
const int **__ctype_toupper_loc(void) {
  __plait_fill();
  return &__plait_uppers_at;
}
