#include <pthread.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int done;
static void *work(void *unused) {
  pthread_mutex_lock(&mutex);
  if (done) return 0; /* keeps the mutex, and gives it back below */
  done = 1;
  pthread_mutex_unlock(&mutex);
  return 0;
}
int main(void) {
  pthread_t one, other;
  pthread_create(&one, 0, work, 0);
  pthread_create(&other, 0, work, 0);
  pthread_join(one, 0);
  pthread_join(other, 0);
  if (done) pthread_mutex_unlock(&mutex); /* another thread's */
  return 0;
}
