// Whatever a function does with a synchronisation object, it uses its memory.
// expect valid-memsafety: false
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

int main(void) {
  pthread_rwlock_t *p = malloc(sizeof *p);
  pthread_rwlock_init(p, NULL);
  free((void *)p);
  pthread_rwlock_destroy(p);
  return 0;
}
