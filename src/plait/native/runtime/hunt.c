/* The strategy of a hunt: it follows a schedule as far as there is one, then a policy, and records
 * all that is done and chosen.
 *
 * A schedule has lines `run THREAD COUNT` (so many steps of a thread), `pick VALUE` (of a choice that
 * is no thread), and at its end `sleep THREAD` (threads whose next step was tried already at this
 * place) or `race THREAD THREAD` (both should stand before accesses that race now). */
#include "runtime.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Steps of one thread in a row, until another one goes on: a loop that waits must end. */
enum { MOST_IN_A_ROW = 20000, MOST_IN_A_ROW_OF_FIRST = 1000, MOST_DEPTH = 32, TRIES_OUTSIDE = 2000 };

struct entry {
  int is_pick;
  uint64_t thread, left; /* or the value */
};

static struct entry *entries;
static size_t entry_count, position;
static char is_asleep[MOST_THREADS + 1];
static int racer, other_racer, is_enabled_recorded;
static enum { FIRST, RANDOM, PCT } policy;

static uint64_t state, step_count, enabled, in_a_row;
static unsigned stickiness;
static uint64_t priorities[MOST_THREADS + 1];
static uint64_t changes[MOST_DEPTH];
static int depth;
static struct thread *last;

static uint64_t next_number(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state * 2685821657736338717u >> 11;
}

static char *read_file(const char *path) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  struct stat status;
  if (file < 0 || fstat(file, &status) != 0) return NULL;
  char *text = malloc((size_t)status.st_size + 1);
  ssize_t used = 0, count;
  while (used < status.st_size && (count = read(file, text + used, (size_t)(status.st_size - used))) > 0)
    used += count;
  text[used] = 0;
  close(file);
  return text;
}

static void read_schedule(void) {
  const char *path = setting("PLAIT_SCHEDULE", NULL);
  char *text = path == NULL ? NULL : read_file(path), *rest = NULL;
  if (text == NULL) return;
  size_t lines = 1;
  for (const char *at = text; *at; at++) lines += *at == '\n';
  entries = malloc(lines * sizeof *entries);
  for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
    unsigned long long one = 0, two = 0;
    if (sscanf(line, "run %llu %llu", &one, &two) == 2)
      entries[entry_count++] = (struct entry){0, one, two};
    else if (sscanf(line, "pick %llu", &one) == 1)
      entries[entry_count++] = (struct entry){1, 0, one};
    else if (sscanf(line, "sleep %llu", &one) == 1 && one <= MOST_THREADS)
      is_asleep[one] = 1;
    else if (sscanf(line, "race %llu %llu", &one, &two) == 2 && one <= MOST_THREADS &&
             two <= MOST_THREADS)
      racer = (int)one, other_racer = (int)two;
  }
}

static void begin(void) {
  state = strtoull(setting("PLAIT_SEED", "1"), NULL, 10) * 2654435769u + 88172645463325252u;
  for (int i = 0; i < 64; i++) next_number();
  const char *name = setting("PLAIT_POLICY", "first");
  policy = strcmp(name, "random") == 0 ? RANDOM : strcmp(name, "pct") == 0 ? PCT : FIRST;
  is_enabled_recorded = atoi(setting("PLAIT_ENABLED", "0"));
  /* How likely a switch is: some failures need many, others few. */
  static const unsigned chances[] = {1, 1, 2, 3, 6, 20, 100};
  stickiness = chances[next_number() % 7];
  depth = atoi(setting("PLAIT_DEPTH", "3"));
  if (depth > MOST_DEPTH) depth = MOST_DEPTH;
  uint64_t steps = strtoull(setting("PLAIT_STEPS", "1000"), NULL, 10);
  for (int i = 0; i + 1 < depth; i++) changes[i] = 1 + next_number() % (steps ? steps : 1);
  read_schedule();
}

/* The number of the thread's record for `pthread_create` is behind the one that starts it. */
static int arrive(struct thread *self) {
  if (self == myself()) record_value(self);
  return 1;
}

static int is_wanted(const struct thread *thread, int is_patience_over) {
  return can_move(thread) && !is_asleep[thread->number] &&
         (is_patience_over || !thread->pending.is_patient);
}

static struct thread *nth(uint64_t skipped, int is_patience_over) {
  for (int i = 1; i <= thread_count; i++)
    if (is_wanted(&threads[i], is_patience_over) && skipped-- == 0) return &threads[i];
  return NULL;
}

static struct thread *choose_randomly(struct thread *self, int is_patience_over) {
  if (is_wanted(self, is_patience_over) && next_number() % stickiness != 0) return self;
  uint64_t count = 0;
  for (int i = 1; i <= thread_count; i++) count += is_wanted(&threads[i], is_patience_over);
  return count == 0 ? NULL : nth(next_number() % count, is_patience_over);
}

static struct thread *choose_by_priority(int is_patience_over) {
  struct thread *best = NULL;
  for (int i = 1; i <= thread_count; i++) {
    if (priorities[i] == 0) priorities[i] = MOST_DEPTH + 1 + next_number() % 1000000;
    if (!is_wanted(&threads[i], is_patience_over)) continue;
    if (best == NULL || priorities[i] > priorities[best->number]) best = &threads[i];
  }
  if (best == NULL) return NULL;
  for (int i = 0; i + 1 < depth; i++) {
    if (changes[i] != step_count) continue;
    priorities[best->number] = (uint64_t)i + 1;
    changes[i] = 0;
    return choose_by_priority(is_patience_over);
  }
  return best;
}

/* After `self` the next one in the order of numbers: every thread gets its turn. */
static struct thread *choose_first(struct thread *self, int is_patience_over) {
  if (is_wanted(self, is_patience_over) && !self->pending.is_patient) return self;
  for (int i = 0; i < thread_count; i++) {
    struct thread *thread = &threads[(self->number + i) % thread_count + 1];
    if (is_wanted(thread, is_patience_over)) return thread;
  }
  return NULL;
}

static struct thread *by_policy(struct thread *self) {
  /* A sleep may be over at any time, but others get the chance to come first. */
  int is_patience_over = policy == RANDOM && next_number() % 16 == 0;
  for (; is_patience_over < 2; is_patience_over++) {
    struct thread *next = policy == RANDOM ? choose_randomly(self, is_patience_over)
                          : policy == PCT  ? choose_by_priority(is_patience_over)
                                           : choose_first(self, is_patience_over);
    if (next == NULL) continue;
    uint64_t most = policy == FIRST ? MOST_IN_A_ROW_OF_FIRST : MOST_IN_A_ROW;
    if (next == last && in_a_row >= most) {
      in_a_row = 0;
      priorities[next->number] = 1;
      for (int i = 0; i < thread_count; i++) {
        struct thread *other = &threads[(next->number + i) % thread_count + 1];
        if (is_wanted(other, 1)) return other;
      }
    }
    return next;
  }
  outcome("redundant", "every thread that could go on was tried here before");
}

static struct thread *by_schedule(struct entry *entry) {
  if (entry->is_pick)
    outcome("differs", "step %llu: the schedule has a choice where the program has none",
            (unsigned long long)step_count);
  struct thread *next = &threads[entry->thread <= MOST_THREADS ? entry->thread : 0];
  for (int tried = 0; !can_move(next) && next->pending.is_outside && tried < TRIES_OUTSIDE; tried++)
    wait_outside();
  if (next->number == 0 || !can_move(next))
    outcome("differs", "step %llu: the schedule goes on with thread %llu, which cannot move: %s",
            (unsigned long long)step_count, (unsigned long long)entry->thread,
            next->number == 0 ? "it does not exist" : describe(&next->pending));
  if (--entry->left == 0) position++;
  return next;
}

static struct thread *choose(struct thread *self) {
  step_count++;
  while (position < entry_count && !entries[position].is_pick && entries[position].left == 0)
    position++;
  if (position == entry_count && racer != 0) {
    if (is_race(&threads[racer].pending, &threads[other_racer].pending))
      report_race(&threads[racer], &threads[other_racer]);
    outcome("differs", "thread %d stands before a %s, and thread %d before a %s: no race", racer,
            describe(&threads[racer].pending), other_racer,
            describe(&threads[other_racer].pending));
  }
  enabled = 0;
  for (int i = 1; is_enabled_recorded && i <= thread_count && i < 64; i++)
    if (can_move(&threads[i])) enabled |= 1ULL << i;
  struct thread *next =
      position < entry_count ? by_schedule(&entries[position]) : by_policy(self);
  in_a_row = next == last ? in_a_row + 1 : 0;
  last = next;
  record_chosen();
  return next;
}

static void go_on(struct thread *self) { (void)self; }

static int overlaps(const void *one, size_t size, const void *other, size_t other_size) {
  const char *a = one, *b = other;
  return a != NULL && b != NULL && a < b + other_size && b < a + size;
}

/* Whether the order of two operations can matter: `plait.hunt.dependence` has the same. */
static int depends(const struct operation *one, const struct operation *other) {
  if (one->kind == READ && other->kind == READ) return 0;
  if (one->kind == SYNC && strcmp(one->name, "section") == 0) return 1; /* what will be in it? */
  if (one->is_outside && other->is_outside) return 1;
  return overlaps(one->address, one->size, other->address, other->size) ||
         overlaps(one->other, 1, other->address, other->size) ||
         overlaps(one->address, one->size, other->other, 1) ||
         overlaps(one->other, 1, other->other, 1);
}

static void observe(struct thread *self) {
  record_operation(self, enabled);
  watch_access(self, &self->pending);
  if (policy != FIRST || position < entry_count) return;
  for (int i = 1; i <= thread_count; i++)
    if (is_asleep[i] && (i == self->number || depends(&threads[i].pending, &self->pending)))
      is_asleep[i] = 0;
}

static uint64_t choose_value(struct thread *self, const char *name, uint64_t count) {
  if (strncmp(name, "spurious failure", 16) == 0 || count == 1 || is_forked()) return 0;
  uint64_t value = policy == FIRST ? 0 : next_number();
  if (count != 0) value %= count;
  if (position < entry_count && entries[position].is_pick) {
    value = entries[position++].left;
    if (count != 0 && value >= count)
      outcome("differs", "step %llu: a choice has fewer ways than in the schedule",
              (unsigned long long)step_count);
  } else if (position < entry_count) {
    outcome("differs", "step %llu: the program has a choice (%s) where the schedule has none",
            (unsigned long long)step_count, name);
  }
  record_choice(self, name, value, count);
  return value;
}

const struct strategy hunt_strategy = {"hunt", begin,        arrive, choose,
                                       go_on,  choose_value, NULL,   observe};
