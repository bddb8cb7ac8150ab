/* Output functions that are called through pointers. The calls in here are those of effects.txt: what
   they read is read in one step, so that output costs no more interleavings than needed (a write at
   the same time is a race all the same). */
#include "plait.h"

int puts(const char *text) { return puts(text); }
int _IO_puts(const char *text) { return _IO_puts(text); }
int fputs(const char *text, struct _IO_FILE *stream) { return fputs(text, stream); }
int fputs_unlocked(const char *text, struct _IO_FILE *stream) {
  return fputs_unlocked(text, stream);
}
size_t fwrite(const void *from, size_t size, size_t count, struct _IO_FILE *stream) {
  return fwrite(from, size, count, stream);
}
size_t fwrite_unlocked(const void *from, size_t size, size_t count, struct _IO_FILE *stream) {
  return fwrite_unlocked(from, size, count, stream);
}
ssize_t write(int file, const void *from, size_t size) { return write(file, from, size); }
ssize_t pwrite(int file, const void *from, size_t size, long offset) {
  return pwrite(file, from, size, offset);
}
ssize_t send(int socket, const void *from, size_t size, int flags) {
  return send(socket, from, size, flags);
}
