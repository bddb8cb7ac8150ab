// Each philosopher takes the left fork first.
// expect no-deadlock: false
// expect assertions: true
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

pthread_mutex_t forks[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                            PTHREAD_MUTEX_INITIALIZER};

static void *philosopher(void *argument) {
  long me = (long)argument;
  pthread_mutex_lock(&forks[me]);
  pthread_mutex_lock(&forks[(me + 1) % 3]);
  pthread_mutex_unlock(&forks[(me + 1) % 3]);
  pthread_mutex_unlock(&forks[me]);
  return NULL;
}

int main(void) {
  pthread_t threads[3];
  for (long i = 0; i < 3; i++) pthread_create(&threads[i], NULL, philosopher, (void *)i);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  return 0;
}
