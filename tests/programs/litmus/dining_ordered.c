// The last philosopher takes the other fork first: no deadlock.
// expect no-deadlock: true
// expect lock-misuse: true
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

pthread_mutex_t forks[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                            PTHREAD_MUTEX_INITIALIZER};

static void *philosopher(void *argument) {
  long me = (long)argument;
  long low = me == 2 ? 0 : me, high = me == 2 ? 2 : me + 1;
  pthread_mutex_lock(&forks[low]);
  pthread_mutex_lock(&forks[high]);
  pthread_mutex_unlock(&forks[high]);
  pthread_mutex_unlock(&forks[low]);
  return NULL;
}

int main(void) {
  pthread_t threads[3];
  for (long i = 0; i < 3; i++) pthread_create(&threads[i], NULL, philosopher, (void *)i);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  return 0;
}
