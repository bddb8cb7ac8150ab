/* <string.h> and <strings.h>, byte by byte. */
#include "plait.h"

void *memcpy(void *to, const void *from, size_t size) {
  unsigned char *target = to;
  const unsigned char *source = from;
  size_t at;
  for (at = 0; at < size; at = at + 1) target[at] = source[at];
  return to;
}

void *mempcpy(void *to, const void *from, size_t size) {
  memcpy(to, from, size);
  return (unsigned char *)to + size;
}

void *memmove(void *to, const void *from, size_t size) {
  unsigned char *target = to;
  const unsigned char *source = from;
  size_t at;
  if ((__UINTPTR_TYPE__)target < (__UINTPTR_TYPE__)source) {
    for (at = 0; at < size; at = at + 1) target[at] = source[at];
  } else if (target != source) {
    for (at = size; at > 0; at = at - 1) target[at - 1] = source[at - 1];
  }
  return to;
}

void *memccpy(void *to, const void *from, int stop, size_t size) {
  unsigned char *target = to;
  const unsigned char *source = from;
  size_t at;
  for (at = 0; at < size; at = at + 1) {
    unsigned char byte = source[at];
    target[at] = byte;
    if (byte == (unsigned char)stop) return target + at + 1;
  }
  return NULL;
}

void *memset(void *to, int byte, size_t size) {
  unsigned char *target = to;
  size_t at;
  for (at = 0; at < size; at = at + 1) target[at] = (unsigned char)byte;
  return to;
}

/* Of what the comparing functions return, C promises only the sign. */
static int __plait_ordered(int difference) {
  if (difference >= -1 && difference <= 1) return difference;
  if (__plait_choose("magnitude of the result of a comparison", 2)) return difference;
  return difference < 0 ? -1 : 1;
}

static int __plait_compare(const void *left, const void *right, size_t size) {
  const unsigned char *one = left;
  const unsigned char *other = right;
  size_t at;
  for (at = 0; at < size; at = at + 1) {
    int difference = one[at] - other[at];
    if (difference != 0) return difference;
  }
  return 0;
}
int memcmp(const void *left, const void *right, size_t size) {
  return __plait_ordered(__plait_compare(left, right, size));
}

void *memchr(const void *from, int byte, size_t size) {
  const unsigned char *source = from;
  size_t at;
  for (at = 0; at < size; at = at + 1)
    if (source[at] == (unsigned char)byte) return (void *)(source + at);
  return NULL;
}

void *memrchr(const void *from, int byte, size_t size) {
  const unsigned char *source = from;
  size_t at;
  for (at = size; at > 0; at = at - 1)
    if (source[at - 1] == (unsigned char)byte) return (void *)(source + at - 1);
  return NULL;
}

void *rawmemchr(const void *from, int byte) {
  const unsigned char *source = from;
  while (*source != (unsigned char)byte) source = source + 1;
  return (void *)source;
}

void *memmem(const void *text, size_t size, const void *word, size_t length) {
  const unsigned char *at = text;
  while (size >= length) {
    if (__plait_compare(at, word, length) == 0) return (void *)at;
    if (size == 0) return NULL;
    at = at + 1;
    size = size - 1;
  }
  return NULL;
}

void bzero(void *to, size_t size) { memset(to, 0, size); }
void explicit_bzero(void *to, size_t size) { memset(to, 0, size); }
void bcopy(const void *from, void *to, size_t size) { memmove(to, from, size); }
int bcmp(const void *left, const void *right, size_t size) { return memcmp(left, right, size); }

size_t strlen(const char *text) {
  size_t length = 0;
  while (text[length] != 0) length = length + 1;
  return length;
}

size_t strnlen(const char *text, size_t limit) {
  size_t length = 0;
  while (length < limit && text[length] != 0) length = length + 1;
  return length;
}

static int __plait_compare_text(const char *left, const char *right, size_t limit) {
  size_t at;
  for (at = 0; at < limit; at = at + 1) {
    unsigned char one = (unsigned char)left[at];
    unsigned char other = (unsigned char)right[at];
    if (one != other) return one - other;
    if (one == 0) return 0;
  }
  return 0;
}
int strncmp(const char *left, const char *right, size_t limit) {
  return __plait_ordered(__plait_compare_text(left, right, limit));
}
int strcmp(const char *left, const char *right) { return strncmp(left, right, (size_t)-1); }
int strcoll(const char *left, const char *right) { return strncmp(left, right, (size_t)-1); }

static int __plait_lower(int c) { return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c; }

static int __plait_compare_folded(const char *left, const char *right, size_t limit) {
  size_t at;
  for (at = 0; at < limit; at = at + 1) {
    int one = __plait_lower((unsigned char)left[at]);
    int other = __plait_lower((unsigned char)right[at]);
    if (one != other) return one - other;
    if (one == 0) return 0;
  }
  return 0;
}
int strncasecmp(const char *left, const char *right, size_t limit) {
  return __plait_ordered(__plait_compare_folded(left, right, limit));
}
int strcasecmp(const char *left, const char *right) {
  return strncasecmp(left, right, (size_t)-1);
}

char *stpcpy(char *to, const char *from) {
  char byte = *from;
  while (byte != 0) {
    *to = byte;
    to = to + 1;
    from = from + 1;
    byte = *from;
  }
  *to = 0;
  return to;
}
char *strcpy(char *to, const char *from) {
  stpcpy(to, from);
  return to;
}

/* Fills up with zeros; without room for one the result has no end. */
char *stpncpy(char *to, const char *from, size_t size) {
  size_t length = strnlen(from, size);
  size_t at;
  for (at = 0; at < length; at = at + 1) to[at] = from[at];
  for (at = length; at < size; at = at + 1) to[at] = 0;
  return to + length;
}
char *strncpy(char *to, const char *from, size_t size) {
  stpncpy(to, from, size);
  return to;
}

char *strcat(char *to, const char *from) {
  stpcpy(to + strlen(to), from);
  return to;
}
char *strncat(char *to, const char *from, size_t size) {
  char *end = to + strlen(to);
  size_t at;
  for (at = 0; at < size && from[at] != 0; at = at + 1) end[at] = from[at];
  end[at] = 0;
  return to;
}

size_t strlcpy(char *to, const char *from, size_t size) {
  size_t length = strlen(from);
  if (size > 0) {
    size_t copied = length < size - 1 ? length : size - 1;
    memcpy(to, from, copied);
    to[copied] = 0;
  }
  return length;
}

char *strchrnul(const char *text, int c) {
  while (*text != 0 && *text != (char)c) text = text + 1;
  return (char *)text;
}
char *strchr(const char *text, int c) {
  char *at = strchrnul(text, c);
  return *at == (char)c ? at : NULL;
}
char *strrchr(const char *text, int c) {
  size_t at = strlen(text) + 1;
  while (at > 0) {
    at = at - 1;
    if (text[at] == (char)c) return (char *)(text + at);
  }
  return NULL;
}
char *index(const char *text, int c) { return strchr(text, c); }
char *rindex(const char *text, int c) { return strrchr(text, c); }

char *strstr(const char *text, const char *word) {
  size_t length = strlen(word);
  while (__plait_compare_text(text, word, length) != 0) {
    if (*text == 0) return NULL;
    text = text + 1;
  }
  return (char *)text;
}
char *strcasestr(const char *text, const char *word) {
  size_t length = strlen(word);
  while (__plait_compare_folded(text, word, length) != 0) {
    if (*text == 0) return NULL;
    text = text + 1;
  }
  return (char *)text;
}

char *strndup(const char *text, size_t limit) {
  size_t length = strnlen(text, limit);
  char *copy = malloc(length + 1);
#if PLAIT_FAILING_CALLS
  if (copy == NULL) return NULL;
#endif
  memcpy(copy, text, length);
  copy[length] = 0;
  return copy;
}
char *strdup(const char *text) { return strndup(text, (size_t)-2); }
char *__strdup(const char *text) { return strndup(text, (size_t)-2); }

size_t strcspn(const char *text, const char *stops) {
  size_t length = 0;
  while (text[length] != 0 && strchr(stops, text[length]) == NULL) length = length + 1;
  return length;
}
size_t strspn(const char *text, const char *allowed) {
  size_t length = 0;
  while (text[length] != 0 && strchr(allowed, text[length]) != NULL) length = length + 1;
  return length;
}
char *strpbrk(const char *text, const char *stops) {
  const char *at = text + strcspn(text, stops);
  return *at == 0 ? NULL : (char *)at;
}

char *strtok_r(char *text, const char *separators, char **rest) {
  char *end;
  if (text == NULL) text = *rest;
  text = text + strspn(text, separators);
  if (*text == 0) {
    *rest = text;
    return NULL;
  }
  end = text + strcspn(text, separators);
  if (*end != 0) {
    *end = 0;
    end = end + 1;
  }
  *rest = end;
  return text;
}
char *__strtok_r(char *text, const char *separators, char **rest) {
  return strtok_r(text, separators, rest);
}

/* Not thread-safe, so the place is an ordinary shared variable: it can race. */
static char *__plait_token;
char *strtok(char *text, const char *separators) {
  return strtok_r(text, separators, &__plait_token);
}

char *strsep(char **rest, const char *separators) {
  char *text = *rest;
  char *end;
  if (text == NULL) return NULL;
  end = text + strcspn(text, separators);
  if (*end == 0) {
    *rest = NULL;
  } else {
    *end = 0;
    *rest = end + 1;
  }
  return text;
}

char *strerror(int number) { return __plait_message(); }

/* The checked forms of glibc's _FORTIFY_SOURCE: an overflow is an invalid access anyway. */
void *__memcpy_chk(void *to, const void *from, size_t size, size_t room) {
  return memcpy(to, from, size);
}
void *__memmove_chk(void *to, const void *from, size_t size, size_t room) {
  return memmove(to, from, size);
}
void *__memset_chk(void *to, int byte, size_t size, size_t room) { return memset(to, byte, size); }
char *__strcpy_chk(char *to, const char *from, size_t room) { return strcpy(to, from); }
char *__strncpy_chk(char *to, const char *from, size_t size, size_t room) {
  return strncpy(to, from, size);
}
char *__strcat_chk(char *to, const char *from, size_t room) { return strcat(to, from); }
char *__strncat_chk(char *to, const char *from, size_t size, size_t room) {
  return strncat(to, from, size);
}
