// A signal that comes too late uses freed memory.
// expect valid-memsafety: false
// expect no-data-race: false
#include <pthread.h>
#include <stdlib.h>

pthread_cond_t *c;

static void *work(void *unused) {
  pthread_cond_signal(c);
  return NULL;
}

int main(void) {
  pthread_t thread;
  c = malloc(sizeof *c);
  pthread_cond_init(c, NULL);
  pthread_create(&thread, NULL, work, NULL);
  free(c);
  pthread_join(thread, NULL);
  return 0;
}
