// A writer is alone.
// expect assertions: true
// expect no-data-race: true
// expect no-deadlock: true
// expect lock-misuse: true
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
int x, y;

static void *writer(void *unused) {
  pthread_rwlock_wrlock(&lock);
  x++;
  y++;
  pthread_rwlock_unlock(&lock);
  return NULL;
}

static void *reader(void *unused) {
  pthread_rwlock_rdlock(&lock);
  assert(x == y);
  pthread_rwlock_unlock(&lock);
  return NULL;
}

int main(void) {
  pthread_t thread_one, thread_two, thread_three;
  pthread_create(&thread_one, NULL, writer, NULL);
  pthread_create(&thread_two, NULL, writer, NULL);
  pthread_create(&thread_three, NULL, reader, NULL);
  pthread_join(thread_one, NULL);
  pthread_join(thread_two, NULL);
  pthread_join(thread_three, NULL);
  assert(x == 2);
  return 0;
}
