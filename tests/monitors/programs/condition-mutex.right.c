#include <pthread.h>
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int state;
static void *work(void *unused) {
  pthread_mutex_lock(&one);
  while (state == 0) pthread_cond_wait(&changed, &one);
  pthread_mutex_unlock(&one);
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, work, 0);
  pthread_mutex_lock(&other);
  pthread_mutex_unlock(&other);
  pthread_mutex_lock(&one);
  state = 1;
  pthread_cond_broadcast(&changed);
  while (state == 0) pthread_cond_wait(&changed, &one);
  pthread_mutex_unlock(&one);
  return 0;
}
