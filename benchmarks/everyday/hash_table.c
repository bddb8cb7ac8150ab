/* A hash table with a lock for each bucket, and its size beside the buckets. Workers insert keys of
 * their own, find them, and remove every other one.
 *
 * The mistake: the size is a plain int. Each change is made under a lock, but under the lock of some
 * bucket, and that of another bucket does not keep anybody out.
 * Violates: no-data-race; and assertions, since the size is wrong in the end.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef ITEMS
#define ITEMS 20 /* keys of each worker */
#endif
#ifndef WORKERS
#define WORKERS 3
#endif
#define BUCKETS 4

struct node {
  unsigned key;
  int value;
  struct node *next;
};

struct bucket {
  pthread_mutex_t lock;
  struct node *nodes;
};

struct table {
#ifdef BROKEN
  int size;
#else
  atomic_int size;
#endif
  struct bucket buckets[BUCKETS];
};

struct worker {
  pthread_t thread;
  unsigned number;
  struct table *table;
};

static void check(int error, const char *what) {
  if (error != 0) {
    fprintf(stderr, "%s: %s\n", what, strerror(error));
    exit(EXIT_FAILURE);
  }
}

static struct bucket *bucket_of(struct table *table, unsigned key) {
  return &table->buckets[key * 2654435761u % BUCKETS];
}

/* Where the node of this key is linked, or where it would be. */
static struct node **find(struct bucket *bucket, unsigned key) {
  struct node **link = &bucket->nodes;
  while (*link != NULL && (*link)->key != key)
    link = &(*link)->next;
  return link;
}

static void table_put(struct table *table, unsigned key, int value) {
  struct bucket *bucket = bucket_of(table, key);
  pthread_mutex_lock(&bucket->lock);
  struct node **link = find(bucket, key);
  if (*link == NULL) {
    struct node *node = malloc(sizeof *node);
    if (node == NULL) {
      perror("malloc");
      exit(EXIT_FAILURE);
    }
    *node = (struct node){.key = key, .next = NULL};
    *link = node;
    table->size++;
  }
  (*link)->value = value;
  pthread_mutex_unlock(&bucket->lock);
}

static bool table_get(struct table *table, unsigned key, int *value) {
  struct bucket *bucket = bucket_of(table, key);
  pthread_mutex_lock(&bucket->lock);
  const struct node *node = *find(bucket, key);
  if (node != NULL)
    *value = node->value;
  pthread_mutex_unlock(&bucket->lock);
  return node != NULL;
}

static void table_remove(struct table *table, unsigned key) {
  struct bucket *bucket = bucket_of(table, key);
  pthread_mutex_lock(&bucket->lock);
  struct node **link = find(bucket, key);
  struct node *node = *link;
  if (node != NULL) {
    *link = node->next;
    table->size--;
  }
  pthread_mutex_unlock(&bucket->lock);
  free(node);
}

static void *work(void *argument) {
  struct worker *worker = argument;
  for (int i = 0; i < ITEMS; i++) {
    unsigned key = (unsigned)i * WORKERS + worker->number;
    int value = 0;
    table_put(worker->table, key, i);
    bool is_found = table_get(worker->table, key, &value);
    assert(is_found && value == i);
    if (i % 2 == 1)
      table_remove(worker->table, key);
  }
  return NULL;
}

int main(void) {
  struct worker workers[WORKERS];
  struct table *table = calloc(1, sizeof *table);
  if (table == NULL) {
    perror("calloc");
    exit(EXIT_FAILURE);
  }
  for (int i = 0; i < BUCKETS; i++)
    check(pthread_mutex_init(&table->buckets[i].lock, NULL), "pthread_mutex_init");
  for (int i = 0; i < WORKERS; i++) {
    workers[i].number = (unsigned)i;
    workers[i].table = table;
    check(pthread_create(&workers[i].thread, NULL, work, &workers[i]), "pthread_create");
  }
  for (int i = 0; i < WORKERS; i++)
    check(pthread_join(workers[i].thread, NULL), "pthread_join");
  assert(table->size == WORKERS * ((ITEMS + 1) / 2));
  for (unsigned key = 0; key < WORKERS * ITEMS; key++)
    table_remove(table, key);
  assert(table->size == 0);
  for (int i = 0; i < BUCKETS; i++) {
    assert(table->buckets[i].nodes == NULL);
    pthread_mutex_destroy(&table->buckets[i].lock);
  }
  free(table);
  return 0;
}
