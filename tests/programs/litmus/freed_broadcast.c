// Whatever a function does with a synchronisation object, it uses its memory.
// expect valid-memsafety: false
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

int main(void) {
  pthread_cond_t *p = malloc(sizeof *p);
  pthread_cond_init(p, NULL);
  free((void *)p);
  pthread_cond_broadcast(p);
  return 0;
}
