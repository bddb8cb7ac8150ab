// Whatever a function does with a synchronisation object, it uses its memory.
// expect valid-memsafety: false
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

int main(void) {
  pthread_spinlock_t *p = malloc(sizeof *p);
  pthread_spin_init(p, 0);
  free((void *)p);
  pthread_spin_destroy(p);
  return 0;
}
