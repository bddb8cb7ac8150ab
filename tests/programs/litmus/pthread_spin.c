// POSIX spin locks.
// expect assertions: true
// expect no-data-race: true
// expect no-deadlock: true
// expect lock-misuse: true
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

pthread_spinlock_t lock;
int x;

static void *increment(void *unused) {
  if (pthread_spin_trylock(&lock) == EBUSY) pthread_spin_lock(&lock);
  x++;
  pthread_spin_unlock(&lock);
  return NULL;
}

int main(void) {
  pthread_t one, two;
  pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
  pthread_create(&one, NULL, increment, NULL);
  pthread_create(&two, NULL, increment, NULL);
  pthread_join(one, NULL);
  pthread_join(two, NULL);
  assert(x == 2);
  pthread_spin_destroy(&lock);
  return 0;
}
