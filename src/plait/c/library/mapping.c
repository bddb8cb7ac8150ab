/* Memory that is mapped: a fresh object of whole pages, until all of it is unmapped. Files that others
   may change at any time, addresses that the program chooses, memory that cannot be written or read,
   and parts of mappings are not supported. */
#include "plait.h"

enum { PLAIT_PAGE = 4096, PLAIT_READ_WRITE = 3 };
enum { PLAIT_SHARED = 1, PLAIT_FIXED = 0x10, PLAIT_ANONYMOUS = 0x20, PLAIT_FIXED_NEW = 0x100000 };

static size_t __plait_whole_pages(size_t size) {
  return (size + (PLAIT_PAGE - 1)) & ~(size_t)(PLAIT_PAGE - 1);
}

#if PLAIT_MAPPINGS
/* The mappings that there are, so that munmap can tell them from other memory. */
#define PLAIT_MOST_MAPPINGS 8
static void *__plait_mapped[PLAIT_MOST_MAPPINGS];

/* The number of a mapping that begins there; null is that of a free entry. In an atomic section. */
static int __plait_mapping_at(void *where) {
  int number;
  for (number = 0; number < PLAIT_MOST_MAPPINGS; number = number + 1)
    if (__plait_mapped[number] == where) return number;
  return -1;
}

void *mmap(void *where, size_t size, int protection, int flags, int file, long offset) {
  void *made;
  int number;
  if (size == 0) {
    *__errno_location() = EINVAL;
    return (void *)-1;
  }
  if (__plait_choose("whether mmap fails", 2)) {
    __plait_note_failure(1);
    return (void *)-1;
  }
  if (flags & (PLAIT_FIXED | PLAIT_FIXED_NEW)) __plait_unsupported("mmap at a fixed address");
  if ((protection & PLAIT_READ_WRITE) != PLAIT_READ_WRITE)
    __plait_unsupported("mmap of memory that cannot be both read and written");
  if (!(flags & PLAIT_ANONYMOUS) && (flags & PLAIT_SHARED))
    __plait_unsupported("mmap of a file that others may change");
  made = __plait_allocate(__plait_whole_pages(size), 1, "mapping");
  if (!(flags & PLAIT_ANONYMOUS)) __plait_unknown_bytes(made, size);
  __plait_atomic_begin();
  number = __plait_mapping_at(NULL);
  if (number < 0) __plait_unsupported("more than 8 mappings at a time");
  __plait_mapped[number] = made;
  __plait_atomic_end();
  return made;
}

int munmap(void *where, size_t size) {
  int number;
  if (size == 0) {
    *__errno_location() = EINVAL;
    return -1;
  }
  __plait_atomic_begin();
  number = where == NULL ? -1 : __plait_mapping_at(where);
  if (number < 0) __plait_unsupported("munmap of what is not the beginning of a mapping");
  __plait_mapped[number] = NULL;
  __plait_atomic_end();
  if (__plait_object_size(where, "mapping") != __plait_whole_pages(size))
    __plait_unsupported("munmap of a part of a mapping");
  __plait_free(where, "mapping");
  return 0;
}
#else
void *mmap(void *where, size_t size, int protection, int flags, int file, long offset) {
  __plait_unsupported("mmap that none of the source files names");
  return NULL;
}
int munmap(void *where, size_t size) {
  __plait_unsupported("munmap of what is not the beginning of a mapping");
  return -1;
}
#endif

/* Of any memory: other protections would make accesses invalid. */
int mprotect(void *where, size_t size, int protection) {
  if ((protection & PLAIT_READ_WRITE) != PLAIT_READ_WRITE)
    __plait_unsupported("mprotect of memory so that it cannot be both read and written");
  if (!__plait_choose("whether mprotect fails", 2)) return 0;
  __plait_note_failure(1);
  return -1;
}
