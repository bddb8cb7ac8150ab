// A spin lock is unlocked by a thread that does not hold it.
// expect lock-misuse: false
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

pthread_spinlock_t lock;

static void *unlocker(void *unused) {
  pthread_spin_unlock(&lock);
  return NULL;
}

int main(void) {
  pthread_t thread;
  pthread_spin_init(&lock, 0);
  pthread_spin_lock(&lock);
  pthread_create(&thread, NULL, unlocker, NULL);
  pthread_join(thread, NULL);
  return 0;
}
