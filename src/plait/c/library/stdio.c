/* Input of any content. Output has no effect: see no_effect.txt. */
#include "plait.h"

struct _IO_FILE {
  int unused;
};
static struct _IO_FILE __plait_streams[3];
struct _IO_FILE *stdin = &__plait_streams[0];
struct _IO_FILE *stdout = &__plait_streams[1];
struct _IO_FILE *stderr = &__plait_streams[2];

/* A character or EOF. */
static int __plait_character(void) {
  int c = __VERIFIER_nondet_int();
  __plait_assume(c >= -1 && c <= 255);
  return c;
}
int getchar(void) { return __plait_character(); }
int getc(struct _IO_FILE *stream) { return __plait_character(); }
int fgetc(struct _IO_FILE *stream) { return __plait_character(); }

/* Null at the end of the file, else a line of any length that fits. */
char *fgets(char *line, int size, struct _IO_FILE *stream) {
  int length;
  int at;
  if (size < 2) __plait_unsupported("fgets with room for less than one character");
  length = __plait_choose("length of the line that fgets reads", size);
  if (length == 0) return NULL;
  for (at = 0; at < length; at = at + 1) {
    unsigned char c = __VERIFIER_nondet_uchar();
    __plait_assume(c != 0 && (c != '\n' || at == length - 1));
    line[at] = (char)c;
  }
  line[length] = 0;
  return line;
}

/* -1, or any number of bytes of any value. */
ssize_t read(int file, void *to, size_t size) {
  unsigned char *bytes = to;
  long result = __VERIFIER_nondet_long();
  long at;
  __plait_assume(result >= -1 && (result < 0 || (size_t)result <= size));
  for (at = 0; at < result; at = at + 1) bytes[at] = __VERIFIER_nondet_uchar();
  return (ssize_t)result;
}
size_t fread(void *to, size_t size, size_t count, struct _IO_FILE *stream) {
  unsigned char *bytes = to;
  unsigned long result = (unsigned long)__VERIFIER_nondet_long();
  unsigned long at;
  __plait_assume(result <= count);
  for (at = 0; at < result * size; at = at + 1) bytes[at] = __VERIFIER_nondet_uchar();
  return result;
}

/* The text is not computed: any characters and any length. They are indeterminate, so that nothing
   has to be chosen for a text that is only shown to people. */
static int __plait_format(char *text, size_t size) {
  int length;
  size_t at;
  for (at = 0; at + 1 < size; at = at + 1) {
    char any;
    text[at] = any;
  }
  if (size > 0) text[size - 1] = 0;
  return length;
}
int snprintf(char *text, size_t size, const char *format, ...) {
  return __plait_format(text, size);
}
int vsnprintf(char *text, size_t size, const char *format, __builtin_va_list arguments) {
  return __plait_format(text, size);
}
