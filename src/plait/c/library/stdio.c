/* Input of any content. Output reads what it prints and has no other effect; printf and its like do
   not even do that: see no_effect.txt. */
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
    __plait_assume(c != '\n' || at == length - 1);
    line[at] = (char)c;
  }
  line[length] = 0;
  return line;
}

/* -1, or any number of bytes of any value. */
ssize_t read(int file, void *to, size_t size) {
  long result = __VERIFIER_nondet_long();
  __plait_assume(result >= -1 && (result < 0 || (size_t)result <= size));
  if (result > 0) __plait_unknown_bytes(to, (size_t)result);
  __plait_note_failure(result < 0);
  return (ssize_t)result;
}
size_t fread(void *to, size_t size, size_t count, struct _IO_FILE *stream) {
  unsigned long result = (unsigned long)__VERIFIER_nondet_long();
  __plait_assume(result <= count);
  __plait_unknown_bytes(to, result * size);
  return result;
}

/* A stream writes into the buffer that it is given, nobody knows when. */
static void __plait_refuse_buffer(const char *buffer) {
  if (buffer != NULL) __plait_unsupported("a buffer of its own for a stream");
}
void setbuf(struct _IO_FILE *stream, char *buffer) { __plait_refuse_buffer(buffer); }
void setbuffer(struct _IO_FILE *stream, char *buffer, size_t size) {
  __plait_refuse_buffer(buffer);
}
int setvbuf(struct _IO_FILE *stream, char *buffer, int mode, size_t size) {
  __plait_refuse_buffer(buffer);
  return __plait_choose("failure of setvbuf", 2) ? -1 : 0;
}

void perror(const char *text) {
  if (text != NULL) __plait_read_text(text);
}

/* Messages of failing programs; error() goes on if the status is 0. */
void err(int status, const char *format, ...) { exit(status); }
void errx(int status, const char *format, ...) { exit(status); }
void verr(int status, const char *format, __builtin_va_list arguments) { exit(status); }
void verrx(int status, const char *format, __builtin_va_list arguments) { exit(status); }
void error(int status, int number, const char *format, ...) {
  if (status != 0) exit(status);
}
