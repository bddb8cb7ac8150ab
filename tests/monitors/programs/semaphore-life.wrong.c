#include <pthread.h>
#include <semaphore.h>
static sem_t items;
static void *work(void *unused) {
  sem_post(&items);
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, work, 0);
  sem_init(&items, 0, 0);
  sem_wait(&items);
  pthread_join(thread, 0);
  sem_destroy(&items);
  return 0;
}
