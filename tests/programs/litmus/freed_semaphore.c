// Whatever a function does with a synchronisation object, it uses its memory.
// expect valid-memsafety: false
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

int main(void) {
  sem_t *p = malloc(sizeof *p);
  sem_init(p, 0, 0);
  free((void *)p);
  sem_destroy(p);
  return 0;
}
