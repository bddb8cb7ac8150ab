// Two counters that grow together without end under a mutex. 2^32 values, so no exploration ends;
// but x == y holds whenever the mutex is free: each section adds 1 to both, modulo 2^32.
#include <assert.h>
#include <pthread.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
unsigned x, y;

void *count(void *unused) {
  while (1) {
    pthread_mutex_lock(&lock);
    x = x + 1;
    y = y + 1;
    pthread_mutex_unlock(&lock);
  }
  return 0;
}

void *check(void *unused) {
  while (1) {
    pthread_mutex_lock(&lock);
    assert(x == y);
    pthread_mutex_unlock(&lock);
  }
  return 0;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, count, 0);
  pthread_create(&two, 0, check, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  return 0;
}
