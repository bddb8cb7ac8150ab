// A signalled consumer that does not test again may find the item gone.
// expect assertions: false
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
int items;

static void *consumer(void *unused) {
  pthread_mutex_lock(&mutex);
  if (items == 0) pthread_cond_wait(&condition, &mutex);
  assert(items > 0);
  items--;
  pthread_mutex_unlock(&mutex);
  return NULL;
}

static void *producer(void *unused) {
  pthread_mutex_lock(&mutex);
  items++;
  pthread_cond_signal(&condition);
  pthread_mutex_unlock(&mutex);
  return NULL;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, NULL, consumer, NULL);
  pthread_create(&two, NULL, consumer, NULL);
  producer(NULL);
  producer(NULL);
  pthread_join(one, NULL);
  pthread_join(two, NULL);
  return 0;
}
