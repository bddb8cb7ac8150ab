#include <pthread.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int items;
static void *produce(void *unused) {
  for (int i = 0; i < 2; i++) {
    pthread_mutex_lock(&mutex);
    items++;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mutex);
    pthread_cond_signal(&changed);
  }
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, produce, 0);
  pthread_mutex_lock(&mutex);
  while (items == 0) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
  return 0;
}
