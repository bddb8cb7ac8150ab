/* The strategy that follows a plan.
 *
 * The plan lists what the threads of plait's counterexample do, in order, as far as the compiled
 * program shows it too. Each thread looks up what it is about to do among its next entries. The
 * number of that entry is its rank, and the thread with the lowest rank goes on. What is not in the
 * plan (accesses that the model does not have) passes at once; entries that the compiled program
 * does not make are skipped when a later one is found. A compiler may read the operands of a
 * statement in another order than the model: then an access has to come early enough for those that
 * were skipped. Calls of synchronisation functions are in
 * both, so that no access is looked up beyond the next one of these. */
#include "runtime.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ranks are twice the number of an entry, so that there is room before each. */
enum { LAST = INT_MAX, MOST_UNMATCHED = 1000000, MOST_ARGUMENTS = 1 << 16 };

struct entry {
  int rank;
  enum kind kind;
  const char *name; /* of a SYNC entry, else the variable or "-" */
  const char *file;
  int first_line, last_line;
  long offset; /* in the variable; -1: anywhere in it */
  long size;
  int until; /* a read gets the same value before the entry of this rank */
  int is_taken;
  int is_weak; /* a compare-and-swap that may fail spuriously */
  const char *unset; /* what a read finds where nobody has written, as digits; null: what is there */
  const struct symbol *symbol;
};

struct given {
  const char *name;
  uint64_t value;
};

/* The part of the plan that is one thread's. */
struct script {
  struct entry *entries;
  int count, next;
  int first_skipped; /* entries of the present statement that may still come */
  struct given *inputs;
  int input_count, next_input;
  int rank;
  const struct entry *present; /* what the thread does now, if the plan has it */
  int unmatched; /* operations since the last one that the plan has */
};

/* What a local has when it is declared: which declaration, for which time in a thread (from 0). */
struct unset {
  int thread, declaration, time;
  size_t offset;
  const char *digits;
};

/* What a call of a function gives that the program only declares, or that the model does not know. */
struct answer {
  int thread, is_taken;
  char name[200], file[300];
  int first_line, last_line, has_result, error;
  uint64_t result;
  int first_write, write_count;
};
struct written {
  int argument; /* from 1 */
  size_t offset;
  const char *digits;
};

struct expectation expected;
static struct answer *answers;
static struct written *all_written;
static int answer_count, written_count;
static struct unset *unset_values;
static int unset_count;
static struct script scripts[MOST_THREADS + 1];
static char first_difference[600];


static void *grown(void *items, int count, size_t size) {
  return (count & (count - 1)) == 0 ? realloc(items, (size_t)(count ? 2 * count : 1) * size)
                                    : items;
}

static const struct symbol *variable_named(const char *name) {
  return strcmp(name, "-") == 0 ? NULL : symbol_named(name);
}

static void read_entry(char *line, int rank) {
  struct entry entry = {.rank = rank};
  char kind[16], name[200], file[300], unset[40] = "-";
  int thread;
  if (sscanf(line, "%d %15s %199s %299s %d %d %ld %ld %d %39s", &thread, kind, name, file,
             &entry.first_line, &entry.last_line, &entry.offset, &entry.size, &entry.until,
             unset) < 9)
    return;
  if (strcmp(unset, "-") != 0) entry.unset = strdup(unset);
  if (thread < 1 || thread > MOST_THREADS) return;
  static const char *const kinds[] = {"read", "write", "update", "sync"};
  if (strcmp(kind, "weak") == 0) entry.kind = UPDATE, entry.is_weak = 1;
  while (!entry.is_weak && entry.kind < SYNC && strcmp(kind, kinds[entry.kind]) != 0) entry.kind++;
  entry.name = strdup(name);
  entry.file = strdup(file);
  if (entry.kind != SYNC) entry.symbol = variable_named(name);
  struct script *script = &scripts[thread];
  script->entries = grown(script->entries, script->count, sizeof entry);
  script->entries[script->count++] = entry;
}

static void read_input(char *line) {
  char *end;
  long thread = strtol(line, &end, 10);
  if (thread < 1 || thread > MOST_THREADS || *end != ' ') return;
  struct given given = {.value = strtoull(end + 1, &end, 16)};
  given.name = strdup(end + (*end == ' '));
  struct script *script = &scripts[thread];
  script->inputs = grown(script->inputs, script->input_count, sizeof given);
  script->inputs[script->input_count++] = given;
}

/* A counterexample looks only at the first few, so that others than these need not be there. */
static void read_argument_count(const char *value) {
  expected.argument_count = atoi(value);
  int present = expected.argument_count < MOST_ARGUMENTS ? expected.argument_count : MOST_ARGUMENTS;
  expected.arguments = calloc((size_t)present + 1, sizeof(char *));
  expected.has_arguments = expected.arguments != NULL;
  for (int i = 0; expected.has_arguments && i < present; i++) expected.arguments[i] = strdup("");
}

/* Its bytes as digits; "-" if there are none. */
static void read_argument(const char *digits) {
  if (!expected.has_arguments || expected.known_arguments >= expected.argument_count ||
      expected.known_arguments >= MOST_ARGUMENTS)
    return;
  char *text = calloc(strlen(digits) / 2 + 1, 1);
  unsigned byte;
  for (int i = 0; text != NULL && sscanf(digits + 2 * i, "%2x", &byte) == 1; i++)
    text[i] = (char)byte;
  expected.arguments[expected.known_arguments++] = text;
}

static void read_unset(char *line) {
  struct unset unset;
  int length = 0;
  if (sscanf(line, "%d %d %d %zu %n", &unset.thread, &unset.declaration, &unset.time,
             &unset.offset, &length) < 4)
    return;
  unset.digits = strdup(line + length);
  unset_values = grown(unset_values, unset_count, sizeof unset);
  unset_values[unset_count++] = unset;
}

static void read_call(const char *line) {
  struct answer answer = {.first_write = written_count};
  char result[24];
  if (sscanf(line, "%d %199s %299s %d %d %23s %d", &answer.thread, answer.name, answer.file,
             &answer.first_line, &answer.last_line, result, &answer.error) < 7)
    return;
  answer.has_result = strcmp(result, "-") != 0;
  if (answer.has_result) answer.result = strtoull(result, NULL, 16);
  answers = grown(answers, answer_count, sizeof answer);
  answers[answer_count++] = answer;
}

static void read_written(const char *line) {
  struct written written;
  int length = 0;
  if (answer_count == 0 ||
      sscanf(line, "%d %zu %n", &written.argument, &written.offset, &length) < 2)
    return;
  written.digits = strdup(line + length);
  all_written = grown(all_written, written_count, sizeof written);
  all_written[written_count++] = written;
  answers[answer_count - 1].write_count++;
}

/* Lines of a key and its values; docs/replay.md describes them. */
void read_plan(void) {
  char *text = read_beside_program(plan_name()), *rest = NULL;
  if (text == NULL) return;
  int number = 0;
  for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
    char *value = strchr(line, ' ');
    if (value == NULL) continue;
    *value++ = 0;
    if (strcmp(line, "do") == 0) read_entry(value, 2 * number++);
    if (strcmp(line, "input") == 0) read_input(value);
    if (strcmp(line, "unset") == 0) read_unset(value);
    if (strcmp(line, "call") == 0) read_call(value);
    if (strcmp(line, "writes") == 0) read_written(value);
    if (strcmp(line, "property") == 0)
      snprintf(expected.property, sizeof expected.property, "%s", value);
    if (strcmp(line, "thread") == 0) expected.thread = atoi(value);
    if (strcmp(line, "place") == 0 && sscanf(value, "%299s %d %d", expected.file,
                                             &expected.first_line, &expected.last_line) != 3)
      expected.file[0] = 0;
    if (strcmp(line, "argc") == 0) read_argument_count(value);
    if (strcmp(line, "argument") == 0) read_argument(value);
    if (strcmp(line, "waiter") == 0) expected.waiter = atoi(value);
    if (strcmp(line, "spurious") == 0) expected.spurious_wakeups = atoi(value);
    if (strcmp(line, "error-function") == 0 && expected.error_function_count < 16)
      expected.error_functions[expected.error_function_count++] = value;
  }
}

static void begin(void) {
  for (int i = 1; i <= MOST_THREADS; i++) threads[i].strategy = &scripts[i];
}

static int rank_of_next(const struct script *script) {
  return script->next < script->count ? script->entries[script->next].rank : LAST;
}

static int is_same_place(const struct entry *entry, const struct site *site) {
  if (site == NULL || entry->first_line == 0) return 1;
  return site->line >= entry->first_line && site->line <= entry->last_line &&
         strcmp(site->file, entry->file) == 0;
}

static int is_same_object(const struct entry *entry, const struct operation *operation) {
  if (entry->symbol == NULL) {
    /* An object without a name, or one of several variables of the same name. */
    if (strcmp(entry->name, "-") == 0 && symbol_at(operation->address) != NULL) return 0;
    return entry->size <= 0 || operation->size >= (size_t)entry->size;
  }
  uintptr_t start = entry->symbol->address, end = start + entry->symbol->size;
  uintptr_t address = (uintptr_t)operation->address;
  if (entry->offset >= 0 && entry->size > 0) {
    start += (uintptr_t)entry->offset;
    end = start + (uintptr_t)entry->size;
  }
  return address < end && start < address + operation->size;
}

static int is_same(const struct entry *entry, const struct operation *operation,
                   const struct site *site) {
  if (entry->kind == SYNC || operation->kind == SYNC)
    return entry->kind == operation->kind && strcmp(entry->name, operation->name) == 0;
  /* clang may report the read and the write of `x++` at once. */
  int is_both = operation->kind == UPDATE && !operation->is_atomic;
  if (entry->kind != operation->kind && !is_both) return 0;
  return is_same_place(entry, site) && is_same_object(entry, operation);
}

/* Parts of a call that the model may not have as steps of their own. */
static int is_optional(const struct operation *operation) {
  return operation->kind != SYNC || strchr(operation->name, '/') != NULL ||
         strcmp(operation->name, "end") == 0;
}

static void differs(struct thread *self, const struct entry *entry) {
  if (first_difference[0] != 0) return;
  char where[330] = "";
  if (entry->first_line != 0)
    snprintf(where, sizeof where, " at %s:%d", entry->file, entry->first_line);
  snprintf(first_difference, sizeof first_difference,
           "thread %d came to %s where the plan has %s%s", self->number,
           describe(&self->pending), entry->name, where);
}

/* An entry of the present statement that was skipped, and comes now. */
static int match_skipped(struct script *script, const struct operation *operation,
                         const struct site *site) {
  for (int i = script->first_skipped; i < script->next; i++) {
    struct entry *entry = &script->entries[i];
    if (entry->is_taken || entry->kind == SYNC || !is_same(entry, operation, site)) continue;
    entry->is_taken = 1;
    script->present = entry;
    return 1;
  }
  return 0;
}

/* The rank of an entry that comes now, though others of its statement are still to come. */
static int rank_before_skipped(const struct script *script, const struct entry *entry) {
  int rank = entry->rank;
  for (int i = script->first_skipped; &script->entries[i] < entry; i++) {
    const struct entry *skipped = &script->entries[i];
    int is_here = skipped->first_line == entry->first_line && skipped->kind == READ;
    if (is_here && !skipped->is_taken && skipped->until >= 0 && 2 * skipped->until - 1 < rank)
      rank = 2 * skipped->until - 1;
  }
  return rank;
}

static int arrive(struct thread *self) {
  struct script *script = self->strategy;
  const struct operation *operation = &self->pending;
  const struct site *site = site_of(operation->pc);
  script->present = NULL;
  if (operation->kind != SYNC && match_skipped(script, operation, site)) return 0;
  for (int i = script->next; i < script->count; i++) {
    struct entry *entry = &script->entries[i];
    if (is_same(entry, operation, site)) {
      entry->is_taken = 1;
      script->present = entry;
      script->rank = rank_before_skipped(script, entry);
      script->next = i + 1;
      if (entry->kind != READ) script->first_skipped = script->next;
      script->unmatched = 0;
      return 1;
    }
    if (entry->kind == SYNC) {
      if (!is_optional(operation)) differs(self, entry);
      break;
    }
  }
  script->rank = rank_of_next(script);
  /* A loop that the plan knows nothing of must not keep the others from going on. */
  return script->rank == LAST || script->unmatched++ > MOST_UNMATCHED;
}

static struct thread *choose(struct thread *self) {
  struct thread *best = NULL, *wanted = NULL;
  for (int i = 1; i <= thread_count; i++) {
    struct thread *thread = &threads[i];
    if (thread->is_over) continue;
    int rank = ((struct script *)thread->strategy)->rank;
    if (thread->pending.pc == NULL && thread->pending.name == NULL) continue;
    if (wanted == NULL || rank < ((struct script *)wanted->strategy)->rank) wanted = thread;
    if (!can_move(thread)) continue;
    if (best == NULL || rank < ((struct script *)best->strategy)->rank) best = thread;
  }
  if (best != wanted && ((struct script *)wanted->strategy)->rank != LAST &&
      first_difference[0] == 0)
    snprintf(first_difference, sizeof first_difference,
             "the plan goes on with thread %d, which cannot move: %s", wanted->number,
             describe(&wanted->pending));
  return best == NULL ? self : best;
}

/* How often a thread has come to a declaration before. */
static int times_before(int thread, int declaration) {
  static int *counts[MOST_THREADS + 1], known[MOST_THREADS + 1];
  if (declaration >= known[thread]) {
    counts[thread] = realloc(counts[thread], (size_t)(declaration + 1) * sizeof(int));
    for (; known[thread] <= declaration; known[thread]++) counts[thread][known[thread]] = 0;
  }
  return counts[thread][declaration]++;
}

static void *fill_unset(int declaration, char *bytes, size_t size) {
  int thread = myself()->number, time = times_before(thread, declaration);
  memset(bytes, 0, size);
  for (int i = 0; i < unset_count; i++) {
    const struct unset *unset = &unset_values[i];
    if (unset->thread != thread || unset->declaration != declaration || unset->time != time)
      continue;
    unsigned byte;
    for (size_t at = unset->offset, k = 0;
         at < size && sscanf(unset->digits + 2 * k, "%2x", &byte) == 1; at++, k++)
      bytes[at] = (char)byte;
  }
  return bytes;
}

/* The sources are compiled with calls of these two: the initialisers of locals that have none. What
 * the first one gives is copied at once; that is no access of the program. */
static char *initial;
static size_t initial_size;

void *plait_unset(int declaration, unsigned long size) {
  if (size > initial_size) initial = realloc(initial, initial_size = size);
  return fill_unset(declaration, initial, size);
}

void *plait_unset_array(int declaration, const volatile void *array, unsigned long size) {
  return fill_unset(declaration, (char *)array, size);
}

int is_initial(const void *address) {
  return (const char *)address >= initial && (const char *)address < initial + initial_size;
}

/* What the program has never set is 0 (build.py, memory.c): there, and nowhere else, the value of
 * the counterexample is put before it is read for the first time. */
static void set_unset(const struct entry *entry, const struct operation *operation) {
  char *bytes = (char *)operation->address;
  size_t size = strlen(entry->unset) / 2;
  int is_zero = 1;
  for (size_t i = 0; i < operation->size; i++) is_zero &= bytes[i] == 0;
  if (operation->size != size || !is_zero) {
    note("%s: the value of the counterexample is not put there", describe(operation));
    return;
  }
  unsigned byte;
  for (size_t i = 0; i < size && sscanf(entry->unset + 2 * i, "%2x", &byte) == 1; i++)
    bytes[i] = (char)byte;
}

static void go_on(struct thread *self) {
  struct script *script = self->strategy;
  if (script->present != NULL && script->present->unset != NULL)
    set_unset(script->present, &self->pending);
  int is_last = script->next < script->count && script->next + 1 == script->count &&
                script->entries[script->next].kind == SYNC &&
                strcmp(script->entries[script->next].name, "failure") == 0;
  if (is_last) plait_before_failing_step();
  script->rank = rank_of_next(script);
}

/* Values are given by name: what the model asks for in another order is still found. */
static uint64_t given_input(struct thread *self, const char *name, uint64_t count) {
  struct script *script = self->strategy;
  if (strcmp(name, "spurious failure, if it is weak") == 0) {
    if (script->present == NULL || !script->present->is_weak) return 0;
    name = "spurious failure";
  }
  for (int i = script->next_input; i < script->input_count; i++) {
    if (strcmp(script->inputs[i].name, name) != 0) continue;
    struct given found = script->inputs[i];
    memmove(&script->inputs[script->next_input + 1], &script->inputs[script->next_input],
            (size_t)(i - script->next_input) * sizeof found);
    script->inputs[script->next_input++] = found;
    return count != 0 && found.value >= count ? 0 : found.value;
  }
  return 0;
}

enum { MOST_GIVEN = 6 }; /* arguments */

static void write_given(const struct written *written, const uint64_t *arguments, const void *pc) {
  size_t size = strlen(written->digits) / 2;
  if (written->argument < 1 || written->argument > MOST_GIVEN) {
    note("%s: what is written to argument %d is not put there", place(pc), written->argument);
    return;
  }
  char *bytes = (char *)(uintptr_t)arguments[written->argument - 1];
  if (bytes == NULL) return;
  struct operation operation = {.kind = WRITE, .address = bytes + written->offset, .size = size,
                                .pc = pc, .waits_for = ""};
  point(&operation);
  unsigned byte;
  for (size_t i = 0; i < size && sscanf(written->digits + 2 * i, "%2x", &byte) == 1; i++)
    bytes[written->offset + i] = (char)byte;
}

/* For generated definitions: the next call of the function in that statement. */
uint64_t plait_call(const char *name, const void *pc, const uint64_t *arguments) {
  if (strategy != &replay_strategy) {
    char asked[220];
    snprintf(asked, sizeof asked, "%s()", name);
    return input(asked, 0);
  }
  const struct site *site = site_of(pc);
  for (int i = 0; i < answer_count; i++) {
    struct answer *answer = &answers[i];
    struct entry there = {.first_line = answer->first_line, .last_line = answer->last_line,
                          .file = answer->file};
    if (answer->is_taken || answer->thread != myself()->number ||
        strcmp(answer->name, name) != 0 || !is_same_place(&there, site))
      continue;
    answer->is_taken = 1;
    for (int k = 0; k < answer->write_count; k++)
      write_given(&all_written[answer->first_write + k], arguments, pc);
    if (answer->error != 0) errno = answer->error;
    return answer->result;
  }
  return 0;
}

static const char *explain(void) { return first_difference[0] == 0 ? NULL : first_difference; }

const struct strategy replay_strategy = {"replay", begin,       arrive,  choose,
                                         go_on,    given_input, explain, NULL};
