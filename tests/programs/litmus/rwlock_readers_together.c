// Readers may hold the lock at the same time.
// expect assertions: false
// expect no-deadlock: true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
atomic_int inside;

static void *reader(void *unused) {
  pthread_rwlock_rdlock(&lock);
  inside++;
  assert(inside == 1);
  inside--;
  pthread_rwlock_unlock(&lock);
  return NULL;
}

int main(void) {
  pthread_t thread_one, thread_two;
  pthread_create(&thread_one, NULL, reader, NULL);
  pthread_create(&thread_two, NULL, reader, NULL);
  pthread_join(thread_one, NULL);
  pthread_join(thread_two, NULL);
  return 0;
}
