/* The trace of a hunted run: a header, and a record of fixed size for each operation, in a file that
 * is mapped, so that neither a crash nor a program that closes all descriptors loses any of it.
 * `plait.hunt.trace` reads it. */
#define _GNU_SOURCE
#include "runtime.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST_NAMES = 512, NAME_SIZE = 64, OUTCOME_SIZE = 2048, MOST_SUSPECTS = 256 };

struct record {
  uint64_t address, pc, value, enabled, other;
  uint32_t size;
  uint16_t thread, name;
  uint8_t kind, is_atomic, is_step, has_value;
  uint32_t flags; /* 1: waits for the outside, 2: patient */
  uint64_t unused;
};

struct header {
  char magic[8];
  uint64_t count, name_count, suspect_count, thread_count, clock, record_size, clock_reads;
  char outcome[OUTCOME_SIZE];
  char names[MOST_NAMES][NAME_SIZE];
  struct suspect suspects[MOST_SUSPECTS];
};

static const size_t HEADER_SIZE = 1 << 16;
static struct header *header;
static struct record *records;
static uint64_t capacity;
static uint64_t last_of[MOST_THREADS + 1]; /* number of the last record, plus one */
static int is_next_a_step;

void begin_record(void) {
  const char *path = setting("PLAIT_RECORD", NULL);
  capacity = strtoull(setting("PLAIT_OPERATIONS", "100000000"), NULL, 10);
  size_t size = HEADER_SIZE + (capacity + MOST_THREADS) * sizeof(struct record);
  int file = path == NULL ? -1 : open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  int flags = MAP_SHARED;
  if (file < 0 || ftruncate(file, (off_t)size) != 0)
    flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  header = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, flags == MAP_SHARED ? file : -1, 0);
  if (file >= 0) close(file);
  if (header == MAP_FAILED) _exit(3);
  memcpy(header->magic, "plaitrec", 8);
  header->record_size = sizeof(struct record);
  records = (struct record *)((char *)header + HEADER_SIZE);
}

/* In the child of a fork: what it does is not part of the run. */
void forget_record(void) { header = NULL; }

uint64_t recorded(void) { return header->count; }

static uint16_t number_of_name(const char *name) {
  static const char *known[MOST_NAMES];
  if (name == NULL) name = "";
  for (uint64_t i = 0; i < header->name_count; i++)
    if (known[i] == name || strcmp(header->names[i], name) == 0) return (uint16_t)i;
  if (header->name_count == MOST_NAMES) return 0;
  uint64_t number = header->name_count++;
  known[number] = name;
  strncpy(header->names[number], name, NAME_SIZE - 1);
  return (uint16_t)number;
}

static struct record *next_record(struct thread *self) {
  if (header->count >= capacity)
    outcome("limit", "more than %llu visible operations", (unsigned long long)capacity);
  struct record *record = &records[header->count++];
  last_of[self->number] = header->count;
  record->thread = (uint16_t)self->number;
  return record;
}

extern char __data_start[], _end[];

/* Memory that is there as long as the process is: it may be looked at later. */
static int is_lasting(const char *address) {
  if (address >= __data_start && address < _end) return 1;
  const char *here = __builtin_frame_address(0);
  return is_on_heap(address) || (address > here && address < here + (1 << 16));
}

static void take_value(struct record *record, const void *address) {
  record->value = 0;
  record->has_value = 1;
  memcpy(&record->value, address, record->size);
}

static void fill(struct record *record, const struct operation *operation) {
  record->kind = (uint8_t)operation->kind;
  record->name = number_of_name(operation->name);
  record->address = (uintptr_t)operation->address;
  record->size = (uint32_t)operation->size;
  record->pc = (uintptr_t)operation->pc;
  record->is_atomic = (uint8_t)operation->is_atomic;
  record->other = (uintptr_t)operation->other;
  record->flags = (uint32_t)(operation->is_outside | operation->is_patient << 1);
}

void record_chosen(void) { is_next_a_step = 1; }

void record_operation(struct thread *self, uint64_t enabled) {
  const struct operation *operation = &self->pending;
  struct record *record = next_record(self);
  fill(record, operation);
  record->enabled = enabled;
  record->is_step = (uint8_t)is_next_a_step;
  is_next_a_step = 0;
  int is_readable = operation->size <= 8 && record->address >= 4096;
  if (operation->kind == READ && is_readable) take_value(record, operation->address);
  if (operation->kind == SYNC && strcmp(operation->name, "start") == 0) {
    record->value = self->born;
    record->has_value = 1;
  }
}

/* The thread comes to its next operation: what the last one has written is still there. */
void record_value(struct thread *self) {
  uint64_t last = last_of[self->number];
  if (last == 0) return;
  struct record *record = &records[last - 1];
  if ((record->kind != WRITE && record->kind != UPDATE) || record->size > 8) return;
  const char *address = (const char *)(uintptr_t)record->address;
  if (is_lasting(address)) take_value(record, address);
}

void record_choice(struct thread *self, const char *name, uint64_t value, uint64_t count) {
  struct record *record = next_record(self);
  memset(record, 0, sizeof *record);
  record->thread = (uint16_t)self->number;
  record->kind = CHOICE;
  record->name = number_of_name(name);
  record->value = value;
  record->other = count;
  record->has_value = 1;
}

/* What each thread would do next. Behind the last record is room for these. */
void record_pending(void) {
  for (int i = 1; i <= thread_count; i++) {
    if (threads[i].is_over) continue;
    struct record *record = &records[header->count++];
    memset(record, 0, sizeof *record);
    fill(record, &threads[i].pending);
    record->thread = (uint16_t)i;
    record->kind = PENDING;
    record->has_value = (uint8_t)threads[i].pending.kind;
    record->enabled = (uint64_t)can_move(&threads[i]);
    if (threads[i].pending.name != NULL && strcmp(threads[i].pending.name, "start") == 0)
      record->value = threads[i].born;
  }
}

void record_clock_read(void) {
  if (header != NULL) header->clock_reads++;
}

void record_suspect(const struct suspect *suspect) {
  for (uint64_t i = 0; i < header->suspect_count; i++) {
    const struct suspect *known = &header->suspects[i];
    if (known->first_pc == suspect->first_pc && known->second_pc == suspect->second_pc) return;
  }
  if (header->suspect_count < MOST_SUSPECTS) header->suspects[header->suspect_count++] = *suspect;
}

void record_outcome(const char *text) {
  int is_said = header != NULL && header->outcome[0] != 0;
  if (header == NULL || (is_said && strncmp(header->outcome, "exec", 4) != 0)) return;
  header->clock = now();
  header->thread_count = (uint64_t)thread_count;
  strncpy(header->outcome, text, OUTCOME_SIZE - 1);
}

/* If the call fails, the run goes on, and says how it ends later. */
void record_exec(const char *path, const char *where) {
  if (header == NULL) return;
  header->clock = now();
  snprintf(header->outcome, OUTCOME_SIZE, "exec the program executes %.200s at %.200s", path, where);
}
