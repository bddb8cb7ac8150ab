/* A registry that is built when it is first needed, by double-checked locking: an atomic pointer is
 * looked at without the lock, and once more with it.
 *
 * The mistake: the pointer is not atomic, so that it is read without the lock while another thread
 * writes it (and what it points to need not be there yet).
 * Violates: no-data-race.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef ITEMS
#define ITEMS 20 /* times that each worker needs the registry */
#endif
#ifndef WORKERS
#define WORKERS 3
#endif
#define NAMES 4

struct registry {
  int length;
  int codes[NAMES];
};

static pthread_mutex_t building = PTHREAD_MUTEX_INITIALIZER;
static int times_built; /* protected by `building` */
#ifdef BROKEN
static struct registry *instance;
#else
static struct registry *_Atomic instance;
#endif

static void check(int error, const char *what) {
  if (error != 0) {
    fprintf(stderr, "%s: %s\n", what, strerror(error));
    exit(EXIT_FAILURE);
  }
}

static struct registry *registry_build(void) {
  struct registry *registry = malloc(sizeof *registry);
  if (registry == NULL) {
    perror("malloc");
    exit(EXIT_FAILURE);
  }
  registry->length = NAMES;
  for (int i = 0; i < NAMES; i++)
    registry->codes[i] = 100 + i;
  return registry;
}

static const struct registry *registry_get(void) {
  struct registry *registry = instance;
  if (registry == NULL) {
    check(pthread_mutex_lock(&building), "pthread_mutex_lock");
    registry = instance;
    if (registry == NULL) {
      registry = registry_build();
      times_built++;
      instance = registry;
    }
    check(pthread_mutex_unlock(&building), "pthread_mutex_unlock");
  }
  return registry;
}

static void *work(void *unused) {
  (void)unused;
  const struct registry *first = registry_get();
  for (int i = 0; i < ITEMS; i++) {
    const struct registry *registry = registry_get();
    assert(registry == first);
    assert(registry->length == NAMES);
    assert(registry->codes[i % NAMES] == 100 + i % NAMES);
  }
  return NULL;
}

int main(void) {
  pthread_t workers[WORKERS];
  for (int i = 0; i < WORKERS; i++)
    check(pthread_create(&workers[i], NULL, work, NULL), "pthread_create");
  for (int i = 0; i < WORKERS; i++)
    check(pthread_join(workers[i], NULL), "pthread_join");
  assert(times_built == 1);
  free(instance);
  return 0;
}
