// The test is before the critical section: both threads may see 9 and increment, to 11.
#include <assert.h>
#include <pthread.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int i;

void *count(void *unused) {
  while (1) {
    if (i < 10) {
      pthread_mutex_lock(&lock);
      i = i + 1;
      pthread_mutex_unlock(&lock);
    }
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
