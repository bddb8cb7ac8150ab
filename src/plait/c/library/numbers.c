/* Numbers from text: strtol and its like, in the C locale. */
#include "plait.h"

struct __plait_number {
  unsigned long long value;
  int negative;
  int overflow;
};

static int __plait_digit(int c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'z') return c - 'a' + 10;
  if (c >= 'A' && c <= 'Z') return c - 'A' + 10;
  return 36;
}

/* C11 7.22.1.4: white space, a sign, a prefix, digits; *end is `text` where there are none. */
static struct __plait_number __plait_parse(const char *text, char **end, int base,
                                           unsigned long long limit) {
  struct __plait_number result;
  const char *at = text;
  int found = 0;
  int digit;
  result.value = 0;
  result.negative = 0;
  result.overflow = 0;
  while (*at == ' ' || (*at >= '\t' && *at <= '\r')) at = at + 1;
  if (*at == '-' || *at == '+') {
    result.negative = *at == '-';
    at = at + 1;
  }
  if ((base == 0 || base == 16) && at[0] == '0' && (at[1] == 'x' || at[1] == 'X') &&
      __plait_digit(at[2]) < 16) {
    base = 16;
    at = at + 2;
  } else if (base == 0) {
    base = *at == '0' ? 8 : 10;
  }
  digit = __plait_digit(*at);
  while (digit < base) {
    found = 1;
    if (result.value > (limit - (unsigned long long)digit) / (unsigned long long)base)
      result.overflow = 1;
    result.value = result.value * (unsigned long long)base + (unsigned long long)digit;
    at = at + 1;
    digit = __plait_digit(*at);
  }
  if (result.overflow) *__errno_location() = ERANGE;
  if (end != NULL) *end = (char *)(found ? at : text);
  return result;
}

static long long __plait_signed(const char *text, char **end, int base, unsigned long long top) {
  struct __plait_number number = __plait_parse(text, end, base, top + 1);
  if (!number.overflow && !number.negative && number.value > top) {
    *__errno_location() = ERANGE;
    number.overflow = 1;
  }
  if (number.overflow) return number.negative ? -(long long)top - 1 : (long long)top;
  return (long long)(number.negative ? 0 - number.value : number.value);
}

static unsigned long long __plait_unsigned(const char *text, char **end, int base,
                                           unsigned long long top) {
  struct __plait_number number = __plait_parse(text, end, base, top);
  if (number.overflow) return top;
  return number.negative ? 0 - number.value : number.value;
}

#ifdef __LP64__
#define PLAIT_LONG_MAX 9223372036854775807ULL
#define PLAIT_ULONG_MAX 18446744073709551615ULL
#else
#define PLAIT_LONG_MAX 2147483647ULL
#define PLAIT_ULONG_MAX 4294967295ULL
#endif
#define PLAIT_LLONG_MAX 9223372036854775807ULL
#define PLAIT_ULLONG_MAX 18446744073709551615ULL

long strtol(const char *text, char **end, int base) {
  return (long)__plait_signed(text, end, base, PLAIT_LONG_MAX);
}
long long strtoll(const char *text, char **end, int base) {
  return __plait_signed(text, end, base, PLAIT_LLONG_MAX);
}
long long strtoimax(const char *text, char **end, int base) {
  return __plait_signed(text, end, base, PLAIT_LLONG_MAX);
}
unsigned long strtoul(const char *text, char **end, int base) {
  return (unsigned long)__plait_unsigned(text, end, base, PLAIT_ULONG_MAX);
}
unsigned long long strtoull(const char *text, char **end, int base) {
  return __plait_unsigned(text, end, base, PLAIT_ULLONG_MAX);
}
unsigned long long strtoumax(const char *text, char **end, int base) {
  return __plait_unsigned(text, end, base, PLAIT_ULLONG_MAX);
}
long __isoc23_strtol(const char *text, char **end, int base) { return strtol(text, end, base); }
long long __isoc23_strtoll(const char *text, char **end, int base) {
  return strtoll(text, end, base);
}
unsigned long __isoc23_strtoul(const char *text, char **end, int base) {
  return strtoul(text, end, base);
}
unsigned long long __isoc23_strtoull(const char *text, char **end, int base) {
  return strtoull(text, end, base);
}
int atoi(const char *text) { return (int)strtol(text, NULL, 10); }
long atol(const char *text) { return strtol(text, NULL, 10); }
long long atoll(const char *text) { return strtoll(text, NULL, 10); }
