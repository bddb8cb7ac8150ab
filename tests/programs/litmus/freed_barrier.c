// Whatever a function does with a synchronisation object, it uses its memory.
// expect valid-memsafety: false
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

int main(void) {
  pthread_barrier_t *p = malloc(sizeof *p);
  pthread_barrier_init(p, NULL, 1);
  free((void *)p);
  pthread_barrier_destroy(p);
  return 0;
}
