/* What functions without a model do to memory: they read it in one step, and write bytes of any
   value. */
#include "plait.h"

/* A write of another thread at the same time is a race all the same. */
void __plait_read_text(const char *text) {
  __plait_atomic_begin();
  strlen(text);
  __plait_atomic_end();
}
void __plait_read_bytes(const void *from, size_t size) {
  const char *bytes = from;
  size_t at;
  __plait_atomic_begin();
  for (at = 0; at < size; at = at + 1) PLAIT_TOUCH(bytes + at);
  __plait_atomic_end();
}

void __plait_unknown_bytes(void *to, size_t size) {
  unsigned char *bytes = to;
  size_t at;
  for (at = 0; at < size; at = at + 1) bytes[at] = __VERIFIER_nondet_uchar();
}

/* Any string that fits, with its end. */
void __plait_unknown_text(char *to, size_t size) {
  size_t at;
  for (at = 0; at + 1 < size; at = at + 1) {
    unsigned char c = __VERIFIER_nondet_uchar();
    to[at] = (char)c;
    if (c == 0) return;
  }
  if (size > 0) to[size - 1] = 0;
}

/* Strings that functions of the system return, each in memory of its own, of a length that the model
   has: one input. What the library keeps is not freed by anybody; what is given may be from malloc. */
static char *__plait_short_string(void *made) {
  *(unsigned long long *)made = (unsigned long long)__VERIFIER_nondet_longlong() & (-1ULL >> 8);
  return made;
}
static void __plait_refuse_long(void) {
  if (__plait_choose("whether a string is long", 2))
    __plait_unsupported("a string of 8 or more characters from the system");
}
char *__plait_message(void) {
  return __plait_short_string(__plait_allocate(sizeof(unsigned long long), 0, "library"));
}
char *__plait_string(int may_be_null) {
  if (may_be_null && __plait_choose("whether there is no string", 2)) return NULL;
  __plait_refuse_long();
  return __plait_message();
}
char *__plait_given_string(void) {
  if (__plait_choose("whether there is no string", 2)) return NULL;
  __plait_refuse_long();
  return __plait_short_string(__plait_allocate(sizeof(unsigned long long), 0, "given"));
}

/* Calls of these two are dropped where the program does not look at errno. */
void __plait_note_failure(int failed) {
  if (failed) {
    int number = __VERIFIER_nondet_int();
    __plait_assume(number > 0);
    *__errno_location() = number;
  }
}
void __plait_note_possible_failure(void) {
  __plait_note_failure(__plait_choose("whether a call of the library fails", 2));
}
