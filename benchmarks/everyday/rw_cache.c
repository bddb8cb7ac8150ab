/* A cache behind a read-write lock: looking up needs the lock for reading; a miss computes the value
 * without the lock, takes it for writing, and looks again before it inserts. Hits are counted while
 * other readers are inside, misses are counted by the writer.
 *
 * The mistake: the number of hits is a plain int, as if the lock for reading kept other readers out.
 * Violates: no-data-race; and assertions, since hits get lost.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef ITEMS
#define ITEMS 20 /* lookups of each worker */
#endif
#ifndef WORKERS
#define WORKERS 3
#endif
#define KEYS 5

struct entry {
  int key, value;
  struct entry *next;
};

struct cache {
  pthread_rwlock_t lock;
  struct entry *entries;
  int length;
  int misses;
#ifdef BROKEN
  int hits;
#else
  atomic_int hits;
#endif
};

struct worker {
  pthread_t thread;
  struct cache *cache;
  int number;
};

static void check(int error, const char *what) {
  if (error != 0) {
    fprintf(stderr, "%s: %s\n", what, strerror(error));
    exit(EXIT_FAILURE);
  }
}

static int compute(int key) { return key * key + 1; }

static struct entry *find(const struct cache *cache, int key) {
  struct entry *entry = cache->entries;
  while (entry != NULL && entry->key != key)
    entry = entry->next;
  return entry;
}

static void insert(struct cache *cache, int key, int value) {
  struct entry *entry = malloc(sizeof *entry);
  if (entry == NULL) {
    perror("malloc");
    exit(EXIT_FAILURE);
  }
  *entry = (struct entry){.key = key, .value = value, .next = cache->entries};
  cache->entries = entry;
  cache->length++;
}

static int cache_get(struct cache *cache, int key) {
  pthread_rwlock_rdlock(&cache->lock);
  const struct entry *entry = find(cache, key);
  if (entry != NULL) {
    int value = entry->value;
    cache->hits++;
    pthread_rwlock_unlock(&cache->lock);
    return value;
  }
  pthread_rwlock_unlock(&cache->lock);
  int value = compute(key);
  pthread_rwlock_wrlock(&cache->lock);
  if (find(cache, key) == NULL)
    insert(cache, key, value);
  cache->misses++;
  pthread_rwlock_unlock(&cache->lock);
  return value;
}

static void *work(void *argument) {
  struct worker *worker = argument;
  for (int i = 0; i < ITEMS; i++) {
    int key = i * (worker->number + 1) % KEYS;
    int value = cache_get(worker->cache, key);
    assert(value == compute(key));
  }
  return NULL;
}

int main(void) {
  struct cache cache = {.entries = NULL, .length = 0, .misses = 0, .hits = 0};
  struct worker workers[WORKERS];
  check(pthread_rwlock_init(&cache.lock, NULL), "pthread_rwlock_init");
  for (int i = 0; i < WORKERS; i++) {
    workers[i].cache = &cache;
    workers[i].number = i;
    check(pthread_create(&workers[i].thread, NULL, work, &workers[i]), "pthread_create");
  }
  for (int i = 0; i < WORKERS; i++)
    check(pthread_join(workers[i].thread, NULL), "pthread_join");
  assert(cache.hits + cache.misses == WORKERS * ITEMS);
  assert(cache.length <= KEYS && cache.length <= cache.misses);
  while (cache.entries != NULL) {
    struct entry *entry = cache.entries;
    cache.entries = entry->next;
    assert(find(&cache, entry->key) == NULL); /* every key once */
    free(entry);
  }
  pthread_rwlock_destroy(&cache.lock);
  return 0;
}
