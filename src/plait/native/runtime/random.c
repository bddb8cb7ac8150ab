/* The strategy that chooses at random, the same way for the same PLAIT_SEED. */
#include "runtime.h"

#include <stdlib.h>
#include <string.h>

static uint64_t state;

static uint64_t next_number(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

static void begin(void) {
  state = strtoull(setting("PLAIT_SEED", "1"), NULL, 10) * 2654435769u + 88172645463325252u;
}

static int arrive(struct thread *self) {
  (void)self;
  return 1;
}

static struct thread *choose(struct thread *self) {
  (void)self;
  int count = 0;
  for (int i = 1; i <= thread_count; i++) count += can_move(&threads[i]);
  int skipped = (int)(next_number() % (uint64_t)count);
  for (int i = 1;; i++)
    if (can_move(&threads[i]) && skipped-- == 0) return &threads[i];
}

static void go_on(struct thread *self) { (void)self; }

static uint64_t any_input(struct thread *self, const char *name, uint64_t count) {
  (void)self;
  if (strcmp(name, "spurious failure, if it is weak") == 0) return 0;
  uint64_t value = next_number();
  if (count != 0) return value % count;
  return value & 1 ? value >> 1 & 1 : value >> (value >> 1 & 63);
}

const struct strategy random_strategy = {"random", begin,     arrive, choose,
                                         go_on,    any_input, NULL,   NULL};
