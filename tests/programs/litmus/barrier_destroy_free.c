// One who is released may destroy and free a barrier: destroying waits for the others to leave.
// expect valid-memsafety: true
// expect no-data-race: true
// expect no-deadlock: true
// expect lock-misuse: true
#include <pthread.h>
#include <stdlib.h>

static void *work(void *barrier) {
  pthread_barrier_wait(barrier);
  return NULL;
}

int main(void) {
  pthread_t thread;
  pthread_barrier_t *barrier = malloc(sizeof *barrier);
  pthread_barrier_init(barrier, NULL, 2);
  pthread_create(&thread, NULL, work, barrier);
  pthread_barrier_wait(barrier);
  pthread_barrier_destroy(barrier);
  free(barrier);
  pthread_join(thread, NULL);
  return 0;
}
