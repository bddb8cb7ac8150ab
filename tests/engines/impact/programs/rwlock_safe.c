// A read-write lock: writers exclude each other and the reader.
#include <assert.h>
#include <pthread.h>

pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
int x, y;

void *writer(void *unused) {
  pthread_rwlock_wrlock(&lock);
  x = x + 1;
  y = y + 1;
  pthread_rwlock_unlock(&lock);
  return 0;
}

void *reader(void *unused) {
  pthread_rwlock_rdlock(&lock);
  assert(x == y);
  pthread_rwlock_unlock(&lock);
  return 0;
}

int main(void) {
  pthread_t one, two, three;
  pthread_create(&one, 0, writer, 0);
  pthread_create(&two, 0, reader, 0);
  pthread_create(&three, 0, writer, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  pthread_join(three, 0);
  assert(x == 2);
  return 0;
}
