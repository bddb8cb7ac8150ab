/* Accesses that nothing orders: vector clocks, as in Mattern's and in FastTrack, for the operations
 * of one run. What was found is a suspicion until a run stands right before both accesses. */
#define _GNU_SOURCE
#include "runtime.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { GRANULE = 8, MOST_CELLS = 12 };
enum { FIRST_TABLE = 1 << 12, MOST_CLOCKS = 1 << 15 };

typedef uint32_t clock_vector[MOST_THREADS + 1];

/* An access to some bytes of a granule; `time` is its thread's clock then. */
struct cell {
  uint64_t number, pc;
  uint32_t time;
  uint16_t thread;
  uint8_t bytes, is_write : 1, is_atomic : 1;
};

struct granule {
  uintptr_t key; /* address / 8, or 0 */
  int count;
  struct cell cells[MOST_CELLS];
};

static clock_vector clocks[MOST_THREADS + 1];
static struct granule *granules;
static size_t granule_room, granule_count;

struct synchronised {
  uintptr_t object;
  uint32_t *clock;
};
static struct synchronised released[MOST_CLOCKS];

static void *fresh_memory(size_t size) {
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

static size_t hash(uintptr_t key, size_t room) { return (key * 11400714819323198485u >> 20) % room; }

static void join_clock(uint32_t *clock, const uint32_t *other) {
  for (int i = 1; i <= thread_count; i++)
    if (clock[i] < other[i]) clock[i] = other[i];
}

static uint32_t *clock_of(const void *object) {
  uintptr_t key = (uintptr_t)object;
  size_t at = hash(key, MOST_CLOCKS);
  for (size_t tried = 0; tried < MOST_CLOCKS; tried++, at = (at + 1) % MOST_CLOCKS) {
    if (released[at].object == 0) {
      released[at].object = key;
      released[at].clock = fresh_memory(sizeof(clock_vector));
    }
    if (released[at].object == key) return released[at].clock;
  }
  return NULL; /* no room: orders get lost, so that suspicions may be wrong */
}

static uint32_t *my_clock(void) { return clocks[myself()->number]; }

void order_before(const void *object) {
  if (!is_hunt() || is_forked()) return;
  uint32_t *clock = clock_of(object);
  if (clock != NULL) join_clock(clock, my_clock());
  my_clock()[myself()->number]++;
}

void order_after(const void *object) {
  if (!is_hunt() || is_forked()) return;
  uint32_t *clock = clock_of(object);
  if (clock != NULL) join_clock(my_clock(), clock);
}

void order_start(struct thread *child) {
  if (!is_hunt()) return;
  join_clock(clocks[child->number], my_clock());
  clocks[child->number][child->number] = 1;
  my_clock()[myself()->number]++;
}

void order_join(struct thread *child) {
  if (is_hunt()) join_clock(my_clock(), clocks[child->number]);
}

static struct granule *slot(struct granule *table, size_t room, uintptr_t key) {
  size_t at = hash(key, room);
  while (table[at].key != 0 && table[at].key != key) at = (at + 1) % room;
  return &table[at];
}

static void grow(void) {
  size_t room = granule_room == 0 ? FIRST_TABLE : granule_room * 4;
  struct granule *table = fresh_memory(room * sizeof *table);
  if (table == NULL) outcome("limit", "no memory to follow accesses");
  for (size_t i = 0; i < granule_room; i++)
    if (granules[i].key != 0) *slot(table, room, granules[i].key) = granules[i];
  if (granules != NULL) munmap(granules, granule_room * sizeof *granules);
  granules = table;
  granule_room = room;
}

static int is_ordered(const struct cell *cell, const uint32_t *clock) {
  return cell->time <= clock[cell->thread];
}

static void watch_granule(uintptr_t key, const struct cell *mine, uintptr_t address) {
  if (granule_count * 2 >= granule_room) grow();
  struct granule *granule = slot(granules, granule_room, key);
  if (granule->key == 0) granule->key = key, granule_count++;
  const uint32_t *clock = clocks[mine->thread];
  int kept = 0;
  for (int i = 0; i < granule->count; i++) {
    struct cell *cell = &granule->cells[i];
    int is_common = (cell->bytes & mine->bytes) != 0;
    int is_earlier = cell->thread == mine->thread || is_ordered(cell, clock);
    if (is_common && !is_earlier && (cell->is_write || mine->is_write) &&
        !(cell->is_atomic && mine->is_atomic)) {
      struct suspect suspect = {cell->number, mine->number, cell->pc, mine->pc, address};
      record_suspect(&suspect);
    }
    /* Whoever is not ordered after `mine` is not ordered after what comes before it either. */
    int is_covered = (cell->bytes & ~mine->bytes) == 0 && is_earlier &&
                     (mine->is_write || !cell->is_write) && (!mine->is_atomic || cell->is_atomic);
    if (!is_covered) granule->cells[kept++] = *cell;
  }
  if (kept == MOST_CELLS) {
    memmove(granule->cells, granule->cells + 1, (MOST_CELLS - 1) * sizeof *granule->cells);
    kept--;
  }
  granule->cells[kept] = *mine;
  granule->count = kept + 1;
}

/* Atomic operations order as in plait's model: a read comes after the writes that it can see. */
static void order_atomic(const struct operation *operation) {
  if (operation->kind != WRITE) order_after(operation->address);
  if (operation->kind != READ) order_before(operation->address);
}

void watch_access(struct thread *self, const struct operation *operation) {
  if (operation->kind == SYNC || operation->pc == NULL) return;
  if (clocks[self->number][self->number] == 0) clocks[self->number][self->number] = 1;
  if (operation->is_atomic && self->sections == 0) order_atomic(operation);
  uintptr_t address = (uintptr_t)operation->address, end = address + operation->size;
  enum { LONGEST = 1 << 16 }; /* of what is looked at in a copy or a free */
  if (operation->size > LONGEST) end = address + LONGEST;
  for (uintptr_t at = address; at < end; at = at / GRANULE * GRANULE + GRANULE) {
    uintptr_t stop = at / GRANULE * GRANULE + GRANULE;
    if (stop > end) stop = end;
    struct cell cell = {.number = recorded() - 1,
                        .pc = (uintptr_t)operation->pc,
                        .time = clocks[self->number][self->number],
                        .thread = (uint16_t)self->number,
                        .bytes = (uint8_t)(((1u << (stop - at)) - 1) << at % GRANULE),
                        .is_write = operation->kind != READ,
                        .is_atomic = operation->is_atomic != 0};
    watch_granule(at / GRANULE, &cell, at);
  }
}
