// A signal between the test and the wait is lost: the waiter sleeps for ever.
// expect no-deadlock: false
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
atomic_int ready;

static void *waiter(void *unused) {
  if (!ready) {
    pthread_mutex_lock(&mutex);
    pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
  }
  return NULL;
}

static void *signaller(void *unused) {
  ready = 1;
  pthread_cond_signal(&condition);
  return NULL;
}

int main(void) {
  pthread_t thread_one, thread_two;
  pthread_create(&thread_one, NULL, waiter, NULL);
  pthread_create(&thread_two, NULL, signaller, NULL);
  pthread_join(thread_one, NULL);
  pthread_join(thread_two, NULL);
  return 0;
}
