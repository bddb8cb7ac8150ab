// A read lock does not protect a write.
// expect assertions: false
// expect no-data-race: false
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
int x;

static void *reader(void *unused) {
  pthread_rwlock_rdlock(&lock);
  x++;
  pthread_rwlock_unlock(&lock);
  return NULL;
}

int main(void) {
  pthread_t thread_one, thread_two;
  pthread_create(&thread_one, NULL, reader, NULL);
  pthread_create(&thread_two, NULL, reader, NULL);
  pthread_join(thread_one, NULL);
  pthread_join(thread_two, NULL);
  assert(x == 2);
  return 0;
}
