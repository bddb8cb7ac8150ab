#include <pthread.h>
static pthread_spinlock_t spin;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int count;
static void *work(void *unused) {
  int is_held = pthread_spin_trylock(&spin) == 0;
  pthread_mutex_lock(&mutex);
  count++;
  pthread_mutex_unlock(&mutex);
  if (is_held) pthread_spin_unlock(&spin);
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_spin_init(&spin, 0);
  pthread_create(&thread, 0, work, 0);
  pthread_join(thread, 0);
  return 0;
}
