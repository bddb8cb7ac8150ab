// One counter is twice the other, except after the third round.
#include <assert.h>
#include <pthread.h>

extern _Bool __VERIFIER_nondet_bool(void);

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
unsigned x, y;

void *count(void *unused) {
  while (__VERIFIER_nondet_bool()) {
    pthread_mutex_lock(&lock);
    x = x + 1;
    y = x == 3 ? y + 1 : y + 2;
    pthread_mutex_unlock(&lock);
  }
  return 0;
}

void *reset(void *unused) {
  while (__VERIFIER_nondet_bool()) {
    pthread_mutex_lock(&lock);
    y = y + 0;
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
