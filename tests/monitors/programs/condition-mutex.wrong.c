#include <pthread.h>
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int state;
static void *work(void *argument) {
  pthread_mutex_t *mutex = argument;
  pthread_mutex_lock(mutex);
  if (state == 0) pthread_cond_wait(&changed, mutex);
  state = 1;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(mutex);
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, work, &one);
  work(&other);
  return 0;
}
