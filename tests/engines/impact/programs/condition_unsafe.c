// A condition variable, waited for with `if`: it may wake up spuriously, before the data is there.
#include <assert.h>
#include <pthread.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
int ready, data;

void *produce(void *unused) {
  pthread_mutex_lock(&lock);
  data = 1;
  ready = 1;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&lock);
  return 0;
}

void *consume(void *unused) {
  pthread_mutex_lock(&lock);
  if (!ready)
    pthread_cond_wait(&changed, &lock);
  assert(data == 1);
  pthread_mutex_unlock(&lock);
  return 0;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, produce, 0);
  pthread_create(&two, 0, consume, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  return 0;
}
