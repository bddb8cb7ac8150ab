/* Read-copy-update: readers use the current settings through an atomic pointer, without a lock. The
 * writer makes a changed copy, swaps the pointer, waits until no reader can still use the old
 * settings, and frees them. A reader's counter is odd while it reads.
 *
 * The mistake: the writer frees the old settings at once, without waiting for the readers.
 * Violates: valid-memsafety.
 */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef ITEMS
#define ITEMS 20 /* updates, and reads of each reader */
#endif
#ifndef READERS
#define READERS 2
#endif

struct settings {
  int version;
  int timeout; /* always ten times the version */
};

struct shared {
  struct settings *_Atomic current;
  atomic_uint phases[READERS];
};

struct reader {
  pthread_t thread;
  struct shared *shared;
  atomic_uint *phase;
};

static void check(int error, const char *what) {
  if (error != 0) {
    fprintf(stderr, "%s: %s\n", what, strerror(error));
    exit(EXIT_FAILURE);
  }
}

static struct settings *settings_create(int version) {
  struct settings *settings = malloc(sizeof *settings);
  if (settings == NULL) {
    perror("malloc");
    exit(EXIT_FAILURE);
  }
  settings->version = version;
  settings->timeout = 10 * version;
  return settings;
}

#ifndef BROKEN
/* A reader that has begun before is waited for; one that begins now finds the new settings. */
static void wait_for_readers(struct shared *shared) {
  for (int i = 0; i < READERS; i++) {
    unsigned phase = atomic_load(&shared->phases[i]);
    if (phase % 2 == 1)
      while (atomic_load(&shared->phases[i]) == phase)
        sched_yield();
  }
}
#endif

static void *update_settings(void *argument) {
  struct shared *shared = argument;
  for (int i = 0; i < ITEMS; i++) {
    struct settings *old = atomic_load(&shared->current); /* only this thread changes it */
    struct settings *fresh = settings_create(old->version + 1);
    atomic_store(&shared->current, fresh);
#ifndef BROKEN
    wait_for_readers(shared);
#endif
    free(old);
  }
  return NULL;
}

static void *read_settings(void *argument) {
  struct reader *reader = argument;
  int newest = 0;
  for (int i = 0; i < ITEMS; i++) {
    atomic_fetch_add(reader->phase, 1);
    const struct settings *settings = atomic_load(&reader->shared->current);
    assert(settings->version >= newest);
    assert(settings->timeout == 10 * settings->version);
    newest = settings->version;
    atomic_fetch_add(reader->phase, 1);
  }
  return NULL;
}

int main(void) {
  struct shared shared;
  struct reader readers[READERS];
  pthread_t writer;
  atomic_init(&shared.current, settings_create(0));
  for (int i = 0; i < READERS; i++)
    atomic_init(&shared.phases[i], 0);
  check(pthread_create(&writer, NULL, update_settings, &shared), "pthread_create");
  for (int i = 0; i < READERS; i++) {
    readers[i].shared = &shared;
    readers[i].phase = &shared.phases[i];
    check(pthread_create(&readers[i].thread, NULL, read_settings, &readers[i]), "pthread_create");
  }
  check(pthread_join(writer, NULL), "pthread_join");
  for (int i = 0; i < READERS; i++)
    check(pthread_join(readers[i].thread, NULL), "pthread_join");
  struct settings *last = atomic_load(&shared.current);
  assert(last->version == ITEMS);
  free(last);
  return 0;
}
