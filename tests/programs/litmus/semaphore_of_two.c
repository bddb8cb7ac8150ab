// A semaphore of two lets two in.
// expect assertions: false
// expect no-data-race: false
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

sem_t semaphore;
int x;

static void *increment(void *unused) {
  sem_wait(&semaphore);
  x++;
  sem_post(&semaphore);
  return NULL;
}

int main(void) {
  pthread_t one, two;
  sem_init(&semaphore, 0, 2);
  pthread_create(&one, NULL, increment, NULL);
  pthread_create(&two, NULL, increment, NULL);
  pthread_join(one, NULL);
  pthread_join(two, NULL);
  assert(x == 2);
  return 0;
}
