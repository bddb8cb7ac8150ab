/* sprintf, snprintf and sscanf: formats that are read as the program runs. Floating-point and
   pointer directives have no model: see __plait_rest and the calls of __plait_unsupported. */
#include "plait.h"

/* Where text goes: at most `room` bytes with the final zero. */
struct __plait_text {
  char *to;
  size_t room;
  size_t length; /* of all that was to be written */
};

static void __plait_put(struct __plait_text *text, char c) {
  if (text->length + 1 < text->room) text->to[text->length] = c;
  text->length = text->length + 1;
}
static void __plait_fill(struct __plait_text *text, char c, int count) {
  int at;
  for (at = 0; at < count; at = at + 1) __plait_put(text, c);
}

struct __plait_directive {
  int left;
  int plus;
  int space;
  int other; /* # */
  int zero;
  int width;
  int precision; /* -1: none */
  int size;      /* of the argument, in bytes */
};

/* Digits are counted by comparison: how long a number is needs no division. */
static int __plait_digits(unsigned long long value, unsigned int base) {
  unsigned long long limit = base;
  int count = 1;
  while (value >= limit) {
    count = count + 1;
    if (limit > (unsigned long long)-1 / base) return count;
    limit = limit * base;
  }
  return count;
}

static void __plait_put_number(struct __plait_text *text, const struct __plait_directive *how,
                               unsigned long long value, unsigned int base, int upper, char sign) {
  int digits = value == 0 && how->precision == 0 ? 0 : __plait_digits(value, base);
  int zeros = how->precision > digits ? how->precision - digits : 0;
  int prefix = (sign != 0) + (how->other && base == 16 && value != 0 ? 2 : 0);
  int spaces;
  int at;
  unsigned long long power = 1;
  if (how->other && base == 8 && zeros == 0 && (value != 0 || digits == 0)) zeros = 1;
  spaces = how->width - prefix - zeros - digits;
  if (how->zero && !how->left && how->precision < 0 && spaces > 0) {
    zeros = zeros + spaces;
    spaces = 0;
  }
  if (!how->left) __plait_fill(text, ' ', spaces);
  if (sign != 0) __plait_put(text, sign);
  if (how->other && base == 16 && value != 0) {
    __plait_put(text, '0');
    __plait_put(text, upper ? 'X' : 'x');
  }
  __plait_fill(text, '0', zeros);
  for (at = 1; at < digits; at = at + 1) power = power * base;
  for (at = 0; at < digits; at = at + 1) {
    unsigned int digit = (unsigned int)(value / power % base);
    __plait_put(text, (char)(digit < 10 ? '0' + digit : (upper ? 'A' : 'a') + digit - 10));
    power = power / base;
  }
  if (how->left) __plait_fill(text, ' ', spaces);
}

static void __plait_put_string(struct __plait_text *text, const struct __plait_directive *how,
                               const char *string) {
  int length = 0;
  int at;
  while ((how->precision < 0 || length < how->precision) && string[length] != 0)
    length = length + 1;
  if (!how->left) __plait_fill(text, ' ', how->width - length);
  for (at = 0; at < length; at = at + 1) __plait_put(text, string[at]);
  if (how->left) __plait_fill(text, ' ', how->width - length);
}

static int __plait_length_modifier(const char **format) {
  const char *at = *format;
  int size = sizeof(int);
  if (*at == 'h') {
    at = at + 1;
    size = sizeof(short);
    if (*at == 'h') {
      at = at + 1;
      size = 1;
    }
  } else if (*at == 'l') {
    at = at + 1;
    size = sizeof(long);
    if (*at == 'l') {
      at = at + 1;
      size = sizeof(long long);
    }
  } else if (*at == 'q' || *at == 'j') {
    at = at + 1;
    size = sizeof(long long);
  } else if (*at == 'z' || *at == 't') {
    at = at + 1;
    size = sizeof(size_t);
  }
  *format = at;
  return size;
}

/* What follows a directive without a model has no value: to use it gives no verdict. */
static int __plait_rest(struct __plait_text *text) {
  char unknown[1];
  int result[1];
  size_t at;
  if (text->room == (size_t)-1)
    __plait_unsupported("sprintf with a floating-point or pointer directive");
  for (at = text->length; at + 1 < text->room; at = at + 1) text->to[at] = unknown[0];
  if (text->room > 0) text->to[text->room - 1] = 0;
  return result[0];
}

static int __plait_format(char *to, size_t room, const char *format, __builtin_va_list arguments) {
  struct __plait_text text;
  struct __plait_directive how;
  text.to = to;
  text.room = room;
  text.length = 0;
  while (*format != 0) {
    char kind;
    if (*format != '%') {
      __plait_put(&text, *format);
      format = format + 1;
      continue;
    }
    format = format + 1;
    how.left = 0;
    how.plus = 0;
    how.space = 0;
    how.other = 0;
    how.zero = 0;
    how.width = 0;
    how.precision = -1;
    while (*format == '-' || *format == '+' || *format == ' ' || *format == '#' ||
           *format == '0') {
      if (*format == '-') how.left = 1;
      if (*format == '+') how.plus = 1;
      if (*format == ' ') how.space = 1;
      if (*format == '#') how.other = 1;
      if (*format == '0') how.zero = 1;
      format = format + 1;
    }
    if (*format == '*') {
      how.width = __builtin_va_arg(arguments, int);
      if (how.width < 0) {
        how.left = 1;
        how.width = -how.width;
      }
      format = format + 1;
    }
    while (*format >= '0' && *format <= '9') {
      how.width = how.width * 10 + (*format - '0');
      format = format + 1;
    }
    if (*format == '.') {
      format = format + 1;
      how.precision = 0;
      if (*format == '*') {
        how.precision = __builtin_va_arg(arguments, int);
        format = format + 1;
      }
      while (*format >= '0' && *format <= '9') {
        how.precision = how.precision * 10 + (*format - '0');
        format = format + 1;
      }
    }
    how.size = __plait_length_modifier(&format);
    kind = *format;
    if (kind == 0) __plait_unsupported("a format that ends in a directive");
    format = format + 1;
    if (kind == 'd' || kind == 'i') {
      long long value;
      char sign = how.plus ? '+' : how.space ? ' ' : 0;
      unsigned long long amount;
      if (how.size == 1)
        value = (signed char)__builtin_va_arg(arguments, int);
      else if (how.size == sizeof(short))
        value = (short)__builtin_va_arg(arguments, int);
      else if (how.size == sizeof(int))
        value = __builtin_va_arg(arguments, int);
      else
        value = __builtin_va_arg(arguments, long long);
      amount = value < 0 ? 0 - (unsigned long long)value : (unsigned long long)value;
      __plait_put_number(&text, &how, amount, 10, 0, value < 0 ? '-' : sign);
    } else if (kind == 'u' || kind == 'x' || kind == 'X' || kind == 'o') {
      unsigned long long value;
      unsigned int base = kind == 'u' ? 10 : kind == 'o' ? 8 : 16;
      if (how.size == 1)
        value = (unsigned char)__builtin_va_arg(arguments, unsigned int);
      else if (how.size == sizeof(short))
        value = (unsigned short)__builtin_va_arg(arguments, unsigned int);
      else if (how.size == sizeof(int))
        value = __builtin_va_arg(arguments, unsigned int);
      else
        value = __builtin_va_arg(arguments, unsigned long long);
      __plait_put_number(&text, &how, value, base, kind == 'X', 0);
    } else if (kind == 'c' && how.size == sizeof(int)) {
      char c = (char)__builtin_va_arg(arguments, int);
      if (!how.left) __plait_fill(&text, ' ', how.width - 1);
      __plait_put(&text, c);
      if (how.left) __plait_fill(&text, ' ', how.width - 1);
    } else if (kind == 's' && how.size == sizeof(int)) {
      const char *string = __builtin_va_arg(arguments, const char *);
      if (string == NULL) __plait_unsupported("%s of a null pointer");
      __plait_put_string(&text, &how, string);
    } else if (kind == '%') {
      __plait_put(&text, '%');
    } else if (kind == 'n') {
      __plait_unsupported("%n in a format");
    } else {
      return __plait_rest(&text);
    }
  }
  if (room > 0) to[text.length < room ? text.length : room - 1] = 0;
  return (int)text.length;
}

#define PLAIT_NO_LIMIT ((size_t)-1)
int vsnprintf(char *to, size_t room, const char *format, __builtin_va_list arguments) {
  return __plait_format(to, room, format, arguments);
}
int snprintf(char *to, size_t room, const char *format, ...) {
  __builtin_va_list arguments;
  __builtin_va_start(arguments, format);
  return __plait_format(to, room, format, arguments);
}
int vsprintf(char *to, const char *format, __builtin_va_list arguments) {
  return __plait_format(to, PLAIT_NO_LIMIT, format, arguments);
}
int sprintf(char *to, const char *format, ...) {
  __builtin_va_list arguments;
  __builtin_va_start(arguments, format);
  return __plait_format(to, PLAIT_NO_LIMIT, format, arguments);
}
int __sprintf_chk(char *to, int flag, size_t room, const char *format, ...) {
  __builtin_va_list arguments;
  __builtin_va_start(arguments, format);
  return __plait_format(to, PLAIT_NO_LIMIT, format, arguments);
}
int __snprintf_chk(char *to, size_t room, int flag, size_t whole, const char *format, ...) {
  __builtin_va_list arguments;
  __builtin_va_start(arguments, format);
  return __plait_format(to, room, format, arguments);
}
int __vsprintf_chk(char *to, int flag, size_t room, const char *format,
                   __builtin_va_list arguments) {
  return __plait_format(to, PLAIT_NO_LIMIT, format, arguments);
}
int __vsnprintf_chk(char *to, size_t room, int flag, size_t whole, const char *format,
                    __builtin_va_list arguments) {
  return __plait_format(to, room, format, arguments);
}

/* Text in memory of its own; where that fails, what is in `to` is not specified. */
void *malloc(size_t);
static int __plait_format_new(char **to, const char *format, __builtin_va_list arguments) {
  __builtin_va_list same;
  int length;
  PLAIT_MAY_FAIL("asprintf", -1);
  __builtin_va_copy(same, arguments);
  length = __plait_format(NULL, 0, format, same);
  __builtin_va_end(same);
  if (length < 0) return -1;
  *to = malloc((size_t)length + 1);
  return __plait_format(*to, (size_t)length + 1, format, arguments);
}
int vasprintf(char **to, const char *format, __builtin_va_list arguments) {
  return __plait_format_new(to, format, arguments);
}
int asprintf(char **to, const char *format, ...) {
  __builtin_va_list arguments;
  __builtin_va_start(arguments, format);
  return __plait_format_new(to, format, arguments);
}
int __vasprintf_chk(char **to, int flag, const char *format, __builtin_va_list arguments) {
  return __plait_format_new(to, format, arguments);
}
int __asprintf_chk(char **to, int flag, const char *format, ...) {
  __builtin_va_list arguments;
  __builtin_va_start(arguments, format);
  return __plait_format_new(to, format, arguments);
}

/* sscanf reads `text`; where that is null (scanf, fscanf) the input is unknown: each directive gets
   any value, or fails. */
static int __plait_space(int c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static void __plait_store_number(void *to, int size, unsigned long long value) {
  if (size == 1)
    *(unsigned char *)to = (unsigned char)value;
  else if (size == sizeof(short))
    *(unsigned short *)to = (unsigned short)value;
  else if (size == sizeof(int))
    *(unsigned int *)to = (unsigned int)value;
  else
    *(unsigned long long *)to = value;
}

static int __plait_value_of_digit(int c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

/* The end of a number in `text`, null if there is none. */
static const char *__plait_scan_number(const char *text, int width, int base,
                                       unsigned long long *result) {
  int negative = 0;
  int found = 0;
  unsigned long long value = 0;
  if (width != 0 && (*text == '-' || *text == '+')) {
    negative = *text == '-';
    text = text + 1;
    width = width - 1;
  }
  if (width != 0 && *text == '0' && (base == 0 || base == 16)) {
    found = 1;
    text = text + 1;
    width = width - 1;
    if (width != 0 && (*text == 'x' || *text == 'X')) {
      found = 0;
      base = 16;
      text = text + 1;
      width = width - 1;
      if (width == 0 || __plait_value_of_digit(*text) >= 16) /* glibc takes the zero, C does not */
        __plait_unsupported("sscanf of 0x without digits");
    } else if (base == 0) {
      base = 8;
    }
  }
  if (base == 0) base = 10;
  while (width != 0 && __plait_value_of_digit(*text) < base) {
    if (value > ((unsigned long long)-1 >> 1) / (unsigned long long)base)
      __plait_unsupported("sscanf of a number that does not fit");
    value = value * (unsigned long long)base + (unsigned long long)__plait_value_of_digit(*text);
    found = 1;
    text = text + 1;
    width = width - 1;
  }
  *result = negative ? 0 - value : value;
  return found ? text : NULL;
}

/* Whether a set as in %[a-z] has a character; `*end` is what follows the set. */
static int __plait_in_set(const char *set, int c, const char **end) {
  int inverted = *set == '^';
  int found = 0;
  int first = 1;
  if (inverted) set = set + 1;
  while (*set != 0 && (first || *set != ']')) {
    first = 0;
    if (set[1] == '-' && set[2] != ']' && set[2] != 0) {
      if (c >= (unsigned char)set[0] && c <= (unsigned char)set[2]) found = 1;
      set = set + 3;
    } else {
      if (c == (unsigned char)*set) found = 1;
      set = set + 1;
    }
  }
  *end = *set == 0 ? set : set + 1;
  return c != 0 && found != inverted;
}

static int __plait_scan_unknown(const char *format, __builtin_va_list arguments) {
  int count = 0;
  while (*format != 0) {
    int width = 0;
    int stored = 1;
    int size;
    char kind;
    const char *set;
    if (*format != '%') {
      format = format + 1;
      continue;
    }
    format = format + 1;
    if (*format == '*') {
      stored = 0;
      format = format + 1;
    }
    while (*format >= '0' && *format <= '9') {
      width = width * 10 + (*format - '0');
      format = format + 1;
    }
    size = __plait_length_modifier(&format);
    kind = *format;
    if (kind == 0) __plait_unsupported("a format that ends in a directive");
    format = format + 1;
    set = format;
    if (kind == '[') __plait_in_set(set, 0, &format);
    if (kind == '%') continue;
    if (__plait_choose("whether scanf finds what it looks for", 2)) {
      if (count == 0 && __plait_choose("whether the input ends", 2)) return -1;
      return count;
    }
    if (!stored) continue;
    if (kind == 'd' || kind == 'i' || kind == 'u' || kind == 'x' || kind == 'X' || kind == 'o') {
      __plait_store_number(__builtin_va_arg(arguments, void *), size,
                           (unsigned long long)__VERIFIER_nondet_longlong());
    } else if (kind == 'n') {
      int place = __VERIFIER_nondet_int();
      __plait_assume(place >= 0);
      __plait_store_number(__builtin_va_arg(arguments, void *), size, (unsigned long long)place);
      continue;
    } else if (kind == 'c') {
      __plait_unknown_bytes(__builtin_va_arg(arguments, void *), width == 0 ? 1 : (size_t)width);
    } else if (kind == 's' || kind == '[') {
      char *to = __builtin_va_arg(arguments, char *);
      size_t length = 0;
      do {
        unsigned char c = __VERIFIER_nondet_uchar();
        const char *ignored;
        __plait_assume(kind == 's' ? c != 0 && !__plait_space(c) : __plait_in_set(set, c, &ignored));
        to[length] = (char)c;
        length = length + 1;
      } while (length != (size_t)width && __plait_choose("whether the text goes on", 2));
      to[length] = 0;
    } else {
      __plait_unsupported("scanf with a floating-point or pointer directive");
    }
    count = count + 1;
  }
  return count;
}

static int __plait_scan(const char *text, const char *format, __builtin_va_list arguments) {
  const char *start = text;
  int count = 0;
  while (*format != 0) {
    int width = 0;
    int stored = 1;
    int size;
    char kind;
    const char *set;
    const char *end;
    if (__plait_space(*format)) {
      while (__plait_space(*text)) text = text + 1;
      format = format + 1;
      continue;
    }
    if (*format != '%') {
      if (*text != *format) return *text == 0 && count == 0 ? -1 : count;
      text = text + 1;
      format = format + 1;
      continue;
    }
    format = format + 1;
    if (*format == '*') {
      stored = 0;
      format = format + 1;
    }
    while (*format >= '0' && *format <= '9') {
      width = width * 10 + (*format - '0');
      format = format + 1;
    }
    size = __plait_length_modifier(&format);
    kind = *format;
    if (kind == 0) __plait_unsupported("a format that ends in a directive");
    format = format + 1;
    set = format;
    if (kind == '[') __plait_in_set(set, 0, &format);
    if (kind == 'n') {
      if (stored)
        __plait_store_number(__builtin_va_arg(arguments, void *), size,
                             (unsigned long long)(text - start));
      continue;
    }
    if (kind != 'c' && kind != '[')
      while (__plait_space(*text)) text = text + 1;
    if (kind == '%') {
      if (*text != '%') return *text == 0 && count == 0 ? -1 : count;
      text = text + 1;
      continue;
    }
    if (*text == 0) return count == 0 ? -1 : count;
    if (kind == 'd' || kind == 'i' || kind == 'u' || kind == 'x' || kind == 'X' || kind == 'o') {
      unsigned long long value;
      int base = kind == 'i' ? 0 : kind == 'o' ? 8 : kind == 'd' || kind == 'u' ? 10 : 16;
      end = __plait_scan_number(text, width == 0 ? -1 : width, base, &value);
      if (end == NULL) return count;
      if (stored) __plait_store_number(__builtin_va_arg(arguments, void *), size, value);
      text = end;
    } else if (kind == 'c') {
      char *to = stored ? __builtin_va_arg(arguments, char *) : NULL;
      int at;
      for (at = 0; at < (width == 0 ? 1 : width); at = at + 1) {
        if (*text == 0) __plait_unsupported("sscanf of fewer characters than %c asks for");
        if (stored) to[at] = *text;
        text = text + 1;
      }
    } else if (kind == 's' || kind == '[') {
      char *to = stored ? __builtin_va_arg(arguments, char *) : NULL;
      int at = 0;
      while (*text != 0 && (width == 0 || at < width) &&
             (kind == 's' ? !__plait_space(*text)
                          : __plait_in_set(set, (unsigned char)*text, &end))) {
        if (stored) to[at] = *text;
        text = text + 1;
        at = at + 1;
      }
      if (at == 0) return count;
      if (stored) to[at] = 0;
    } else {
      __plait_unsupported("sscanf with a floating-point or pointer directive");
    }
    if (stored) count = count + 1;
  }
  return count;
}

int sscanf(const char *text, const char *format, ...) {
  __builtin_va_list arguments;
  __builtin_va_start(arguments, format);
  return __plait_scan(text, format, arguments);
}
int fscanf(void *stream, const char *format, ...) {
  __builtin_va_list arguments;
  __builtin_va_start(arguments, format);
  return __plait_scan_unknown(format, arguments);
}
int scanf(const char *format, ...) {
  __builtin_va_list arguments;
  __builtin_va_start(arguments, format);
  return __plait_scan_unknown(format, arguments);
}
int __isoc99_sscanf(const char *text, const char *format, ...) {
  __builtin_va_list arguments;
  __builtin_va_start(arguments, format);
  return __plait_scan(text, format, arguments);
}
int __isoc99_fscanf(void *stream, const char *format, ...) {
  __builtin_va_list arguments;
  __builtin_va_start(arguments, format);
  return __plait_scan_unknown(format, arguments);
}
int __isoc99_scanf(const char *format, ...) {
  __builtin_va_list arguments;
  __builtin_va_start(arguments, format);
  return __plait_scan_unknown(format, arguments);
}
int __isoc23_sscanf(const char *text, const char *format, ...) {
  __builtin_va_list arguments;
  __builtin_va_start(arguments, format);
  return __plait_scan(text, format, arguments);
}
int __isoc23_fscanf(void *stream, const char *format, ...) {
  __builtin_va_list arguments;
  __builtin_va_start(arguments, format);
  return __plait_scan_unknown(format, arguments);
}
int __isoc23_scanf(const char *format, ...) {
  __builtin_va_list arguments;
  __builtin_va_start(arguments, format);
  return __plait_scan_unknown(format, arguments);
}
int vsscanf(const char *text, const char *format, __builtin_va_list arguments) {
  return __plait_scan(text, format, arguments);
}
int vfscanf(void *stream, const char *format, __builtin_va_list arguments) {
  return __plait_scan_unknown(format, arguments);
}
int vscanf(const char *format, __builtin_va_list arguments) {
  return __plait_scan_unknown(format, arguments);
}
int __isoc99_vsscanf(const char *text, const char *format, __builtin_va_list arguments) {
  return __plait_scan(text, format, arguments);
}
int __isoc99_vfscanf(void *stream, const char *format, __builtin_va_list arguments) {
  return __plait_scan_unknown(format, arguments);
}
int __isoc99_vscanf(const char *format, __builtin_va_list arguments) {
  return __plait_scan_unknown(format, arguments);
}
