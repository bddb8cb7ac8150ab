// After a broadcast, without waiters, a condition variable may be destroyed and freed.
// expect valid-memsafety: true
// expect lock-misuse: true
// expect no-deadlock: true
// expect assertions: true
#include <pthread.h>
#include <stdlib.h>

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t *c;
int ready;

static void *work(void *unused) {
  pthread_mutex_lock(&m);
  while (!ready) pthread_cond_wait(c, &m);
  pthread_mutex_unlock(&m);
  return NULL;
}

int main(void) {
  pthread_t thread;
  c = malloc(sizeof *c);
  pthread_cond_init(c, NULL);
  pthread_create(&thread, NULL, work, NULL);
  pthread_mutex_lock(&m);
  ready = 1;
  pthread_cond_broadcast(c);
  pthread_cond_destroy(c);
  free(c);
  pthread_mutex_unlock(&m);
  pthread_join(thread, NULL);
  return 0;
}
