// The wait releases the mutex, and has it again when it returns.
// expect assertions: true
// expect no-deadlock: true
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
int ready, inside;

static void *waiter(void *unused) {
  pthread_mutex_lock(&mutex);
  inside++;
  while (!ready) {
    inside--;
    pthread_cond_wait(&condition, &mutex);
    assert(inside == 0);
    inside++;
  }
  inside--;
  pthread_mutex_unlock(&mutex);
  return NULL;
}

static void *signaller(void *unused) {
  pthread_mutex_lock(&mutex);
  assert(inside == 0);
  inside++;
  ready = 1;
  pthread_cond_signal(&condition);
  inside--;
  pthread_mutex_unlock(&mutex);
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
