/* The heap. For memory safety blocks get gaps around them and are never used again, so that every
 * access that the compiler reports can be checked. */
#define _GNU_SOURCE
#include "runtime.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { GAP = 64, MOST_BLOCKS = 1 << 20 };
static const size_t ARENA = (size_t)256 << 20;

struct block {
  char *start;
  size_t size;
  int is_freed, is_reached;
};

static struct block *blocks; /* by ascending address */
static size_t block_count;
static char *arena, *next_free;


static int is_checked(void) {
  myself();
  return strncmp(expected.property, "valid-", 6) == 0;
}

static void set_up(void) {
  if (arena != NULL) return;
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  arena = mmap(NULL, ARENA, PROT_READ | PROT_WRITE, flags, -1, 0);
  blocks = mmap(NULL, MOST_BLOCKS * sizeof *blocks, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (arena == MAP_FAILED || blocks == MAP_FAILED) outcome("limit", "no memory for the heap");
  next_free = arena + GAP;
}

static void *allocate(size_t size) {
  if (!is_checked()) return calloc(1, size ? size : 1);
  set_up();
  if (block_count == MOST_BLOCKS || size > (size_t)(arena + ARENA - next_free) - 2 * GAP)
    outcome("limit", "the heap is full");
  struct block *block = &blocks[block_count++];
  *block = (struct block){next_free, size, 0, 0};
  next_free += (size + GAP + 15) / 16 * 16;
  return block->start;
}

/* The last block that starts at or before an address. */
static struct block *block_before(const void *address) {
  size_t low = 0, high = block_count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (blocks[middle].start <= (const char *)address)
      low = middle + 1;
    else
      high = middle;
  }
  return low == 0 ? NULL : &blocks[low - 1];
}

static void release(void *address, const void *pc) {
  if (!is_checked()) {
    /* Memory that is used again would make a run depend on the allocator. */
    return;
  }
  struct block *block = block_before(address);
  if (block == NULL || block->start != address)
    failure("valid-free", pc, "free of what is no heap object");
  if (block->is_freed) failure("valid-free", pc, "free of a heap object that is freed already");
  block->is_freed = 1;
}

void check_access(const struct operation *operation) {
  if (operation->kind == SYNC || strncmp(expected.property, "valid-", 6) != 0) return;
  const char *address = operation->address;
  if ((uintptr_t)address < 4096)
    failure("valid-deref", operation->pc, "%s through a null pointer", describe(operation));
  if (arena == NULL || address < arena || address >= arena + ARENA) return;
  const struct block *block = block_before(address);
  if (block == NULL || address + operation->size > block->start + block->size)
    failure("valid-deref", operation->pc, "%s beyond a heap object", describe(operation));
  if (block->is_freed)
    failure("valid-deref", operation->pc, "%s in a heap object that is freed", describe(operation));
}

/* What static variables point to, and what that points to, is not lost. */
static void reach(const char *from, const char *to) {
  for (; from + sizeof(char *) <= to; from += sizeof(char *)) {
    char *pointer;
    memcpy(&pointer, from, sizeof pointer);
    struct block *block = block_before(pointer);
    if (block == NULL || block->is_freed || block->is_reached) continue;
    if (pointer > block->start + block->size) continue;
    block->is_reached = 1;
    reach(block->start, block->start + block->size);
  }
}

extern char __data_start[], _end[];

void check_leaks(void) {
  if (strcmp(expected.property, "valid-memtrack") != 0) return;
  const char *from = __data_start;
  from += -(uintptr_t)from % sizeof(char *);
  reach(from, _end);
  int lost = 0;
  for (size_t i = 0; i < block_count; i++) lost += !blocks[i].is_freed && !blocks[i].is_reached;
  if (lost > 0)
    failure("valid-memtrack", myself()->pending.pc,
            "%d heap object(s) that nothing points to are never freed", lost);
}

void *stand_in_malloc(size_t size) { return allocate(size); }
void *stand_in_calloc(size_t count, size_t size) {
  size_t total;
  if (__builtin_mul_overflow(count, size, &total)) {
    errno = ENOMEM;
    return NULL;
  }
  return allocate(total);
}
void stand_in_free(void *address) {
  if (address == NULL) return;
  sync_point("free", address, CALLER);
  release(address, CALLER);
}
void *stand_in_realloc(void *address, size_t size) {
  if (address == NULL) return allocate(size);
  if (!is_checked()) return realloc(address, size);
  sync_point("realloc", address, CALLER);
  struct block *block = block_before(address);
  if (block == NULL || block->start != address || block->is_freed)
    failure("valid-free", CALLER, "realloc of what is no heap object");
  void *copy = allocate(size);
  memcpy(copy, address, size < block->size ? size : block->size);
  block->is_freed = 1;
  return copy;
}

/* Copies by the library: one access for all of their bytes. */
static void touch(enum kind kind, const void *address, size_t size, const void *pc) {
  struct operation operation = {kind, NULL, address, size, 0, pc, NULL, "", NULL, NULL};
  if (size != 0) point(&operation);
}
void *stand_in_memcpy(void *target, const void *source, size_t size) {
  touch(READ, source, size, CALLER);
  touch(WRITE, target, size, CALLER);
  return memmove(target, source, size);
}
void *stand_in_memmove(void *target, const void *source, size_t size) {
  touch(READ, source, size, CALLER);
  touch(WRITE, target, size, CALLER);
  return memmove(target, source, size);
}
void *stand_in_memset(void *target, int value, size_t size) {
  touch(WRITE, target, size, CALLER);
  return memset(target, value, size);
}
