// Numbers from text, division, absolute values.
// expect assertions: true
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

int main(void) {
  char *end;
  const char *text = "  -12x";
  assert(strtol(text, &end, 10) == -12 && end == text + 5);
  assert(strtol("0x1F", NULL, 0) == 31 && strtol("017", NULL, 0) == 15);
  assert(strtol("zz", NULL, 36) == 35 * 36 + 35);
  text = "none";
  assert(strtol(text, &end, 10) == 0 && end == text);
  errno = 0;
  assert(strtol("99999999999999999999", NULL, 10) == LONG_MAX && errno == ERANGE);
  errno = 0;
  assert(strtol("-99999999999999999999", NULL, 10) == LONG_MIN && errno == ERANGE);
  errno = 0;
  assert(strtoll("-9223372036854775808", NULL, 10) == LLONG_MIN && errno == 0);
  assert(strtoull("18446744073709551615", NULL, 10) == ULLONG_MAX && errno == 0);
  assert(strtoul("-1", NULL, 10) == ULONG_MAX);
  assert(atoi("42") == 42 && atol("-7") == -7 && atoll("8") == 8);
  assert(abs(-3) == 3 && labs(-4L) == 4 && llabs(5LL) == 5);
  div_t result = div(-7, 2);
  assert(result.quot == -3 && result.rem == -1);
  ldiv_t other = ldiv(7, -2);
  assert(other.quot == -3 && other.rem == 1);
  return 0;
}
