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
static const unsigned short __plait_classes[384] = {
    [128 + 0 ... 128 + 8] = 0x0002,      [128 + '\t'] = 0x2003,
    [128 + 10 ... 128 + 13] = 0x2002,    [128 + 14 ... 128 + 31] = 0x0002,
    [128 + ' '] = 0x6001,                [128 + '!' ... 128 + '/'] = 0xc004,
    [128 + '0' ... 128 + '9'] = 0xd808,  [128 + ':' ... 128 + '@'] = 0xc004,
    [128 + 'A' ... 128 + 'F'] = 0xd508,  [128 + 'G' ... 128 + 'Z'] = 0xc508,
    [128 + '[' ... 128 + '`'] = 0xc004,  [128 + 'a' ... 128 + 'f'] = 0xd608,
    [128 + 'g' ... 128 + 'z'] = 0xc608,  [128 + '{' ... 128 + '~'] = 0xc004,
    [128 + 127] = 0x0002,
};
#define FOUR(c) (c), (c) + 1, (c) + 2, (c) + 3
#define SIXTEEN(c) FOUR(c), FOUR((c) + 4), FOUR((c) + 8), FOUR((c) + 12)
#define LETTERS(c) SIXTEEN(c), FOUR((c) + 16), FOUR((c) + 20), (c) + 24, (c) + 25
#define OTHERS(c) FOUR(c), (c) + 4, (c) + 5 /* between the letters */
#define LARGE                                                                             \
  SIXTEEN(128), SIXTEEN(144), SIXTEEN(160), SIXTEEN(176), SIXTEEN(192), SIXTEEN(208), SIXTEEN(224)
#define EOF (-1)
#define TABLE(upper, lower)                                                               \
  {LARGE, 240, 241, 242, 243, 244, 245, 246, 247, 248, 249, 250, 251, 252, 253, 254, EOF, \
   SIXTEEN(0), SIXTEEN(16), SIXTEEN(32), SIXTEEN(48), '@', LETTERS(upper), OTHERS('['),   \
   LETTERS(lower), FOUR('{'), 127, LARGE, SIXTEEN(240)}
static const int __plait_lowers[384] = TABLE('a', 'a');
static const int __plait_uppers[384] = TABLE('A', 'A');
static const unsigned short *__plait_classes_at = __plait_classes + 128;
static const int *__plait_lowers_at = __plait_lowers + 128;
static const int *__plait_uppers_at = __plait_uppers + 128;

const unsigned short **__ctype_b_loc(void) { return &__plait_classes_at; }
const int **__ctype_tolower_loc(void) { return &__plait_lowers_at; }
const int **__ctype_toupper_loc(void) { return &__plait_uppers_at; }
