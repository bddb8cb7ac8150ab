// One signal for two waiters leaves one of them waiting.
// expect assertions: true
// expect no-deadlock: false
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
int ready;

static void *waiter(void *unused) {
  pthread_mutex_lock(&mutex);
  while (!ready) pthread_cond_wait(&condition, &mutex);
  pthread_mutex_unlock(&mutex);
  return NULL;
}

static void *signaller(void *unused) {
  pthread_mutex_lock(&mutex);
  ready = 1;
  pthread_cond_signal(&condition);
  pthread_mutex_unlock(&mutex);
  return NULL;
}

int main(void) {
  pthread_t thread_one, thread_two, thread_three;
  pthread_create(&thread_one, NULL, waiter, NULL);
  pthread_create(&thread_two, NULL, waiter, NULL);
  pthread_create(&thread_three, NULL, signaller, NULL);
  pthread_join(thread_one, NULL);
  pthread_join(thread_two, NULL);
  pthread_join(thread_three, NULL);
  return 0;
}
