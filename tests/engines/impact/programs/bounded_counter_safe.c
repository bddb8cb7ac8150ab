// A counter of two threads that never exceeds 10: the test and the increment are one critical
// section.
#include <assert.h>
#include <pthread.h>

extern _Bool __VERIFIER_nondet_bool(void);

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int i;

void *count(void *unused) {
  while (1) {
    pthread_mutex_lock(&lock);
    if (i < 10)
      i = i + 1;
    else if (__VERIFIER_nondet_bool())
      i = 0;
    pthread_mutex_unlock(&lock);
    assert(i <= 10);
  }
  return 0;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, count, 0);
  pthread_create(&two, 0, count, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  return 0;
}
