/* <stdlib.h>: memory, the end of the process, numbers, sorting. */
#include "plait.h"

/* malloc and its like fail only with --failing-calls. A block of size 0 has an address of its own. */
void *malloc(size_t size) {
  PLAIT_MAY_FAIL("malloc", NULL);
  return __plait_allocate(size, 0, "heap");
}

/* Null where the product overflows. */
void *calloc(size_t count, size_t size) {
  if (size != 0 && count > (size_t)-1 / size) return NULL;
  PLAIT_MAY_FAIL("calloc", NULL);
  return __plait_allocate(count * size, 1, "heap");
}

void free(void *block) { __plait_free(block, "heap"); }
void cfree(void *block) { free(block); }

/* Always moves the block. To size 0 it frees and returns null, as glibc does. */
void *realloc(void *block, size_t size) {
  size_t old;
  void *moved;
  if (block != NULL && size == 0) {
    __plait_free(block, "heap");
    return NULL;
  }
  PLAIT_MAY_FAIL("realloc", NULL);
  if (block == NULL) return __plait_allocate(size, 0, "heap");
  old = __plait_object_size(block, "heap");
  moved = __plait_allocate(size, 0, "heap");
  memcpy(moved, block, old < size ? old : size);
  __plait_free(block, "heap");
  return moved;
}

void *reallocarray(void *block, size_t count, size_t size) {
  if (size != 0 && count > (size_t)-1 / size) {
    *__errno_location() = ENOMEM;
    return NULL;
  }
  return realloc(block, count * size);
}

/* Every object starts a page, so it is aligned for every sensible request. With other ones C17 and
   glibc since 2.38 return null, glibc before takes the next power of two. */
void *aligned_alloc(size_t alignment, size_t size) {
  if (alignment > 4096) __plait_unsupported("an alignment of more than 4096 bytes");
  if (alignment == 0 || (alignment & (alignment - 1)) != 0)
    __plait_unsupported("an alignment that is not a power of two");
  PLAIT_MAY_FAIL("aligned_alloc", NULL);
  return __plait_allocate(size, 0, "heap");
}
void *memalign(size_t alignment, size_t size) { return aligned_alloc(alignment, size); }
void *valloc(size_t size) { return __plait_allocate(size, 0, "heap"); }
int posix_memalign(void **block, size_t alignment, size_t size) {
  if (alignment < sizeof(void *) || (alignment & (alignment - 1)) != 0) return EINVAL;
#if PLAIT_FAILING_CALLS
  void *made = aligned_alloc(alignment, size);
  if (made == NULL) return ENOMEM;
  *block = made;
#else
  *block = aligned_alloc(alignment, size);
#endif
  return 0;
}
size_t malloc_usable_size(void *block) { return block == NULL ? 0 : __plait_object_size(block, "heap"); }

void abort(void) { __plait_end_process(134, "abort"); }

/* Runs the handlers of atexit, then ends all threads. */
void exit(int status) {
  if (__plait_run_exit_handlers != NULL) __plait_run_exit_handlers();
  PLAIT_EXITS();
  __plait_end_process(status, "exit");
}
void _Exit(int status) {
  PLAIT_EXITS();
  __plait_end_process(status, "exit");
}
void _exit(int status) {
  PLAIT_EXITS();
  __plait_end_process(status, "exit");
}

#define PLAIT_HANDLERS 32
static void (*__plait_handlers[PLAIT_HANDLERS])(void);
static int __plait_handler_count;

/* The latest first; a handler may register others. */
static void __plait_call_handlers(void) {
  void (*handler)(void) = NULL;
  do {
    __plait_atomic_begin();
    handler = NULL;
    if (__plait_handler_count > 0) {
      __plait_handler_count = __plait_handler_count - 1;
      handler = __plait_handlers[__plait_handler_count];
    }
    __plait_atomic_end();
    if (handler != NULL) handler();
  } while (handler != NULL);
}

int atexit(void (*handler)(void)) {
  if (__plait_self() != 1) __plait_unsupported("atexit in another thread than the initial one");
  __plait_atomic_begin();
  if (__plait_handler_count == PLAIT_HANDLERS) __plait_unsupported("more than 32 exit handlers");
  __plait_handlers[__plait_handler_count] = handler;
  __plait_handler_count = __plait_handler_count + 1;
  __plait_run_exit_handlers = __plait_call_handlers;
  __plait_atomic_end();
  return 0;
}

static void (*__plait_quick_handlers[PLAIT_HANDLERS])(void);
static int __plait_quick_count;

int at_quick_exit(void (*handler)(void)) {
  __plait_atomic_begin();
  if (__plait_quick_count == PLAIT_HANDLERS) __plait_unsupported("more than 32 exit handlers");
  __plait_quick_handlers[__plait_quick_count] = handler;
  __plait_quick_count = __plait_quick_count + 1;
  __plait_atomic_end();
  return 0;
}
void quick_exit(int status) {
  void (*handler)(void);
  do {
    __plait_atomic_begin();
    handler = NULL;
    if (__plait_quick_count > 0) {
      __plait_quick_count = __plait_quick_count - 1;
      handler = __plait_quick_handlers[__plait_quick_count];
    }
    __plait_atomic_end();
    if (handler != NULL) handler();
  } while (handler != NULL);
  PLAIT_EXITS();
  __plait_end_process(status, "exit");
}

int abs(int value) { return value < 0 ? -value : value; }
long labs(long value) { return value < 0 ? -value : value; }
long long llabs(long long value) { return value < 0 ? -value : value; }

struct __plait_div {
  int quot;
  int rem;
};
struct __plait_ldiv {
  long quot;
  long rem;
};
struct __plait_lldiv {
  long long quot;
  long long rem;
};
struct __plait_div div(int left, int right) {
  struct __plait_div result;
  result.quot = left / right;
  result.rem = left % right;
  return result;
}
struct __plait_ldiv ldiv(long left, long right) {
  struct __plait_ldiv result;
  result.quot = left / right;
  result.rem = left % right;
  return result;
}
struct __plait_lldiv lldiv(long long left, long long right) {
  struct __plait_lldiv result;
  result.quot = left / right;
  result.rem = left % right;
  return result;
}

/* Insertion sort: a stable order is one that the standard allows. */
void qsort(void *base, size_t count, size_t size, int (*compare)(const void *, const void *)) {
  unsigned char *bytes = base;
  size_t next;
  size_t at;
  size_t byte;
  for (next = 1; next < count; next = next + 1) {
    at = next;
    while (at > 0 && compare(bytes + (at - 1) * size, bytes + at * size) > 0) {
      for (byte = 0; byte < size; byte = byte + 1) {
        unsigned char moved = bytes[(at - 1) * size + byte];
        bytes[(at - 1) * size + byte] = bytes[at * size + byte];
        bytes[at * size + byte] = moved;
      }
      at = at - 1;
    }
  }
}

void *bsearch(const void *key, const void *base, size_t count, size_t size,
              int (*compare)(const void *, const void *)) {
  const unsigned char *bytes = base;
  size_t low = 0;
  size_t high = count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    int order = compare(key, bytes + middle * size);
    if (order == 0) return (void *)(bytes + middle * size);
    if (order < 0)
      high = middle;
    else
      low = middle + 1;
  }
  return NULL;
}

/* Any number from 0 to RAND_MAX, whatever the seed. */
int rand(void) {
  int value = __VERIFIER_nondet_int();
  __plait_assume(value >= 0);
  return value;
}
int rand_r(unsigned int *seed) {
  *seed = __VERIFIER_nondet_uint();
  return rand();
}
long random(void) { return rand(); }
long lrand48(void) { return rand(); }
long nrand48(unsigned short *state) {
  int at;
  for (at = 0; at < 3; at = at + 1) state[at] = (unsigned short)__VERIFIER_nondet_uint();
  return rand();
}
int lrand48_r(void *state, long *result) {
  __plait_unknown_bytes(state, 24); /* struct drand48_data */
  *result = rand();
  return 0;
}
void srand(unsigned int seed) {}
void srandom(unsigned int seed) {}
void srand48(long seed) {}

/* The environment is empty at the start. What is put into it is not kept: to look for anything then
   has no verdict. */
static int __plait_environment_changed;
static char *__plait_no_variables[1];
char **environ = __plait_no_variables;
char **__environ = __plait_no_variables;
char *getenv(const char *name) {
  int changed;
  __plait_atomic_begin();
  changed = __plait_environment_changed;
  __plait_atomic_end();
  if (changed) __plait_unsupported("to read the environment after the program has changed it");
  return NULL;
}
char *secure_getenv(const char *name) { return getenv(name); }
static int __plait_change_environment(void) {
  char **unknown;
  __plait_atomic_begin();
  __plait_environment_changed = 1;
  memcpy(&environ, &unknown, sizeof unknown); /* to use a copy of an unset value has no verdict */
  memcpy(&__environ, &unknown, sizeof unknown);
  __plait_atomic_end();
  return 0;
}
int putenv(char *text) {
  PLAIT_MAY_FAIL("putenv", -1);
  __plait_read_text(text);
  return __plait_change_environment();
}
static int __plait_is_variable(const char *name) {
  int is_good = 0;
  if (name != NULL) {
    while (*name != 0 && *name != '=') {
      is_good = 1;
      name = name + 1;
    }
    if (*name == '=') is_good = 0;
  }
  if (!is_good) *__errno_location() = EINVAL;
  return is_good;
}
int setenv(const char *name, const char *value, int replaces) {
  if (!__plait_is_variable(name)) return -1;
  PLAIT_MAY_FAIL("setenv", -1);
  __plait_read_text(value);
  return __plait_change_environment();
}
int unsetenv(const char *name) { return __plait_is_variable(name) ? 0 : -1; }
int clearenv(void) { return 0; }
