// pthread_exit runs the handlers that are pushed, the latest first, before the thread ends.
// expect assertions: true
// expect no-deadlock: true
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int order;

static void first(void *unused) {
  assert(order == 1);
  order = 2;
}

static void unlock(void *unused) {
  assert(order == 0);
  order = 1;
  pthread_mutex_unlock(&mutex);
}

static void *work(void *unused) {
  pthread_cleanup_push(first, NULL);
  pthread_mutex_lock(&mutex);
  pthread_cleanup_push(unlock, NULL);
  pthread_exit(NULL);
  pthread_cleanup_pop(1);
  pthread_cleanup_pop(1);
  return NULL;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, work, NULL);
  pthread_join(thread, NULL);
  assert(order == 2);
  pthread_mutex_lock(&mutex);
  return 0;
}
