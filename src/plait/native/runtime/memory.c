/* The heap. For memory safety blocks get gaps around them and are never used again, so that every
 * access that the compiler reports can be checked. */
#define _GNU_SOURCE
#include "runtime.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { GAP = 64, MOST_BLOCKS = 1 << 22, CHUNK = 1 << 20 };
#define HEAP_BASE 0x100000000000u
#define HEAP_SIZE 0x100000000u

struct block {
  char *start;
  size_t size;
  int is_freed, is_reached;
};

/* Each thread has its own, so that addresses do not depend on what other threads do meanwhile. */
struct heap {
  struct block *blocks; /* by ascending address */
  size_t block_count;
  char *next_free, *end; /* what is mapped */
};

static struct heap heaps[MOST_THREADS + 1];

static int is_checked(void) {
  return is_hunt() || strncmp(expected.property, "valid-", 6) == 0;
}

static struct heap *heap_at(const void *address) {
  uintptr_t number = ((uintptr_t)address - HEAP_BASE) / HEAP_SIZE;
  return (uintptr_t)address < HEAP_BASE || number > MOST_THREADS ? NULL : &heaps[number];
}

int is_on_heap(const void *address) {
  const struct heap *heap = heap_at(address);
  return heap != NULL && (const char *)address < heap->end;
}

/* Room for `size` more bytes, or 0. */
static int extend(struct heap *heap, size_t size) {
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  char *start = (char *)(HEAP_BASE + HEAP_SIZE * (uintptr_t)(heap - heaps));
  if (heap->blocks == NULL) {
    size_t table = MOST_BLOCKS * sizeof *heap->blocks;
    if (is_hunt() && heap != &heaps[1]) table /= 16;
    heap->blocks = mmap(NULL, table, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (heap->blocks == MAP_FAILED) heap->blocks = NULL;
    if (heap->blocks == NULL) return 0;
    heap->next_free = start + GAP;
    heap->end = start;
  }
  size_t most = MOST_BLOCKS / (is_hunt() && heap != &heaps[1] ? 16 : 1);
  if (heap->block_count == most || size > HEAP_SIZE / 2) return 0;
  char *needed = heap->next_free + size + 2 * GAP;
  if (needed <= heap->end) return 1;
  size_t more = ((size_t)(needed - heap->end) + CHUNK - 1) / CHUNK * CHUNK;
  if (heap->end + more > start + HEAP_SIZE) return 0;
  flags |= MAP_FIXED_NOREPLACE;
  if (mmap(heap->end, more, PROT_READ | PROT_WRITE, flags, -1, 0) != heap->end) return 0;
  heap->end += more;
  return 1;
}

static void *allocate_at(size_t size, size_t alignment) {
  if (!is_checked()) return calloc(1, size ? size : 1);
  struct heap *heap = &heaps[myself()->number];
  if (!extend(heap, size + alignment)) {
    /* What does not fit is not checked. */
    if (is_hunt()) return calloc(1, size ? size : 1);
    outcome("limit", "the heap is full");
  }
  uintptr_t start = ((uintptr_t)heap->next_free + alignment - 1) / alignment * alignment;
  struct block *block = &heap->blocks[heap->block_count++];
  *block = (struct block){(char *)start, size, 0, 0};
  heap->next_free = (char *)((start + size + GAP + 15) / 16 * 16);
  return block->start;
}

static void *allocate(size_t size) { return allocate_at(size, 16); }

/* The last block that starts at or before an address. */
static struct block *block_before(const void *address) {
  const struct heap *heap = heap_at(address);
  if (heap == NULL) return NULL;
  size_t low = 0, high = heap->block_count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (heap->blocks[middle].start <= (const char *)address)
      low = middle + 1;
    else
      high = middle;
  }
  return low == 0 ? NULL : &heap->blocks[low - 1];
}

/* Pages that lie within freed memory go back to the system; they are never used again. */
static void give_back(const struct block *block) {
  uintptr_t page = 4096, from = ((uintptr_t)block->start + page - 1) / page * page;
  uintptr_t to = (uintptr_t)(block->start + block->size) / page * page;
  if (from < to) madvise((void *)from, to - from, MADV_DONTNEED);
}

static void release(void *address, const void *pc) {
  if (!is_checked()) {
    /* Memory that is used again would make a run depend on the allocator. */
    return;
  }
  struct block *block = block_before(address);
  if (is_hunt() && block == NULL) { /* of the library: strdup and the like */
    free(address);
    return;
  }
  if (is_hunt() && !is_expected("valid-free")) return;
  if (block == NULL || block->start != address)
    failure("valid-free", pc, "free of what is no heap object");
  if (block->is_freed) failure("valid-free", pc, "free of a heap object that is freed already");
  block->is_freed = 1;
  if (is_hunt()) give_back(block);
}

/* A lock or condition variable that was freed. */
static void check_object(const struct operation *operation) {
  const struct block *block = block_before(operation->address);
  int is_free = strcmp(operation->name, "free") == 0 || strcmp(operation->name, "realloc") == 0;
  const char *address = operation->address;
  if (block != NULL && block->is_freed && address < block->start + block->size && !is_free)
    failure("valid-deref", operation->pc, "%s in a heap object that is freed", describe(operation));
}

void check_access(const struct operation *operation) {
  if (!is_checked() || (operation->kind == SYNC && !is_hunt())) return;
  if (is_hunt() && !is_expected("valid-deref")) return;
  if (operation->kind == SYNC) {
    if (operation->address != NULL) check_object(operation);
    return;
  }
  const char *address = operation->address;
  if ((uintptr_t)address < 4096 && !is_hunt()) /* there it crashes by itself */
    failure("valid-deref", operation->pc, "%s through a null pointer", describe(operation));
  const struct block *block = block_before(address);
  if (block == NULL && !is_on_heap(address)) return;
  if (block != NULL && block->start == address && operation->name != NULL) return; /* free */
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
  for (int i = 1; i <= thread_count; i++)
    for (size_t j = 0; j < heaps[i].block_count; j++)
      lost += !heaps[i].blocks[j].is_freed && !heaps[i].blocks[j].is_reached;
  if (lost > 0)
    failure("valid-memtrack", myself()->pending.pc,
            "%d heap object(s) that nothing points to are never freed", lost);
}

/* In a hunt a free is a write to all of the object. */
static void free_point(const char *name, const void *address, const void *pc) {
  const struct block *block = block_before(address);
  if (!is_hunt() || block == NULL || block->start != address || block->is_freed) {
    sync_point(name, address, pc);
    return;
  }
  struct operation operation = {.kind = WRITE, .name = name, .address = address,
                                .size = block->size, .pc = pc, .waits_for = ""};
  point(&operation);
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
  free_point("free", address, CALLER);
  release(address, CALLER);
}
void *stand_in_realloc(void *address, size_t size) {
  if (address == NULL) return allocate(size);
  if (!is_checked()) return realloc(address, size);
  free_point("realloc", address, CALLER);
  struct block *block = block_before(address);
  if (is_hunt() && block == NULL) return realloc(address, size);
  if (block == NULL || block->start != address || block->is_freed)
    failure("valid-free", CALLER, "realloc of what is no heap object");
  void *copy = allocate(size);
  memcpy(copy, address, size < block->size ? size : block->size);
  block->is_freed = 1;
  return copy;
}

void *outside_aligned_alloc(size_t alignment, size_t size) {
  return allocate_at(size, alignment < 16 ? 16 : alignment);
}
void *outside_memalign(size_t alignment, size_t size) {
  return allocate_at(size, alignment < 16 ? 16 : alignment);
}
int outside_posix_memalign(void **result, size_t alignment, size_t size) {
  *result = allocate_at(size, alignment < 16 ? 16 : alignment);
  return 0;
}
void *outside_reallocarray(void *address, size_t count, size_t size) {
  size_t total;
  if (!__builtin_mul_overflow(count, size, &total)) return stand_in_realloc(address, total);
  errno = ENOMEM;
  return NULL;
}
char *outside_strdup(const char *text) {
  size_t size = strlen(text) + 1;
  return memcpy(allocate(size), text, size);
}

/* Copies by the library: one access for all of their bytes. */
static void touch(enum kind kind, const void *address, size_t size, const void *pc) {
  struct operation operation = {.kind = kind, .address = address, .size = size, .pc = pc,
                                .waits_for = ""};
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
