// One counter is twice the other, for any number of rounds. 2^32 values, so no exploration ends;
// but y == 2 * x holds whenever the mutex is free: each section keeps it, modulo 2^32.
#include <assert.h>
#include <pthread.h>

extern _Bool __VERIFIER_nondet_bool(void);

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
unsigned x, y;

void *count(void *unused) {
  while (__VERIFIER_nondet_bool()) {
    pthread_mutex_lock(&lock);
    x = x + 1;
    y = y + 2;
    pthread_mutex_unlock(&lock);
  }
  return 0;
}

void *reset(void *unused) {
  while (__VERIFIER_nondet_bool()) {
    pthread_mutex_lock(&lock);
    y = 2 * x;
    pthread_mutex_unlock(&lock);
  }
  return 0;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, count, 0);
  pthread_create(&two, 0, reset, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  assert(y == 2 * x);
  return 0;
}
