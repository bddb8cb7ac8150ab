/* Directories: any number of entries with any names. The entry belongs to the stream, and the next call
   of readdir writes it again. */
#include "plait.h"

#define PLAIT_NAME_SIZE 256
struct __plait_entry {
  unsigned long number;
  long offset;
  unsigned short size;
  unsigned char type;
  char name[PLAIT_NAME_SIZE];
};
struct __plait_directory {
  struct __plait_entry entry;
};

static struct __plait_directory *__plait_open_directory(void) {
  if (__plait_choose("whether a directory cannot be opened", 2)) {
    __plait_note_failure(1);
    return NULL;
  }
  return __plait_allocate(sizeof(struct __plait_directory), 1, "directory");
}
struct __plait_directory *opendir(const char *name) {
  __plait_read_text(name);
  return __plait_open_directory();
}
struct __plait_directory *fdopendir(int file) { return __plait_open_directory(); }

/* Null at the end, or where it fails. */
struct __plait_entry *readdir(struct __plait_directory *directory) {
  struct __plait_entry *entry = &directory->entry;
  int at;
  PLAIT_TOUCH(directory);
  if (__plait_choose("whether a directory has no more entries", 2)) {
    __plait_note_possible_failure();
    return NULL;
  }
  entry->number = (unsigned long)__VERIFIER_nondet_long();
  entry->offset = __VERIFIER_nondet_long();
  entry->size = (unsigned short)__VERIFIER_nondet_uint();
  entry->type = __VERIFIER_nondet_uchar();
  for (at = 0; at < PLAIT_NAME_SIZE - 1; at = at + 1) {
    unsigned char c = __VERIFIER_nondet_uchar();
    __plait_assume(c != '/' && (at > 0 || c != 0));
    entry->name[at] = (char)c;
  }
  entry->name[PLAIT_NAME_SIZE - 1] = 0;
  return entry;
}
void rewinddir(struct __plait_directory *directory) { PLAIT_TOUCH(directory); }
int dirfd(struct __plait_directory *directory) {
  int file = __VERIFIER_nondet_int();
  PLAIT_TOUCH(directory);
  __plait_assume(file >= -1);
  __plait_note_failure(file < 0);
  return file;
}

/* The stream is gone, whatever the result. */
int closedir(struct __plait_directory *directory) {
  PLAIT_TOUCH(directory);
  __plait_free(directory, "directory");
  if (!__plait_choose("whether closedir fails", 2)) return 0;
  __plait_note_failure(1);
  return -1;
}
