// To wait on a condition variable uses its memory, also if the thread wakes up at once.
// expect valid-memsafety: false
#include <pthread.h>
#include <stdlib.h>

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

int main(void) {
  pthread_cond_t *c = malloc(sizeof *c);
  pthread_cond_init(c, NULL);
  free(c);
  pthread_mutex_lock(&m);
  pthread_cond_wait(c, &m);
  pthread_mutex_unlock(&m);
  return 0;
}
