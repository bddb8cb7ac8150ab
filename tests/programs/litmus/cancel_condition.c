// A cancelled wait holds the mutex again when its handlers run; whoever waits for the thread gets
// PTHREAD_CANCELED.
// expect assertions: true
// expect no-deadlock: true
// expect no-data-race: true
#include <assert.h>
#include <pthread.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
int holders;

static void release(void *argument) {
  assert(holders == 0);
  holders = 1;
  *(int *)argument = 1;
  holders = 0;
  pthread_mutex_unlock(&mutex);
}

static void *work(void *argument) {
  pthread_mutex_lock(&mutex);
  pthread_cleanup_push(release, argument);
  for (;;) pthread_cond_wait(&changed, &mutex);
  pthread_cleanup_pop(0);
  return NULL;
}

int main(void) {
  pthread_t thread;
  int released = 0;
  void *result = NULL;
  pthread_create(&thread, NULL, work, &released);
  pthread_mutex_lock(&mutex);
  assert(holders == 0);
  holders = 1;
  holders = 0;
  pthread_mutex_unlock(&mutex);
  pthread_cancel(thread);
  pthread_join(thread, &result);
  assert(result == PTHREAD_CANCELED && released);
  return 0;
}
