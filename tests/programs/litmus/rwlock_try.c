// What the try functions answer in each state of the lock.
// expect assertions: true
// expect lock-misuse: true
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void *with_reader(void *unused) {
  assert(pthread_rwlock_trywrlock(&lock) == EBUSY);
  assert(pthread_rwlock_tryrdlock(&lock) == 0);
  pthread_rwlock_unlock(&lock);
  return NULL;
}

static void *with_writer(void *unused) {
  struct timespec deadline = {1, 0};
  assert(pthread_rwlock_trywrlock(&lock) == EBUSY);
  assert(pthread_rwlock_tryrdlock(&lock) == EBUSY);
  assert(pthread_rwlock_timedrdlock(&lock, &deadline) == ETIMEDOUT);
  assert(pthread_rwlock_timedwrlock(&lock, &deadline) == ETIMEDOUT);
  return NULL;
}

int main(void) {
  pthread_t thread;
  pthread_rwlock_rdlock(&lock);
  pthread_create(&thread, NULL, with_reader, NULL);
  pthread_join(thread, NULL);
  pthread_rwlock_unlock(&lock);
  pthread_rwlock_wrlock(&lock);
  assert(pthread_rwlock_wrlock(&lock) == EDEADLK);
  assert(pthread_rwlock_rdlock(&lock) == EDEADLK);
  pthread_create(&thread, NULL, with_writer, NULL);
  pthread_join(thread, NULL);
  pthread_rwlock_unlock(&lock);
  return 0;
}
