// A semaphore of 1 as a lock.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

sem_t free_places;
int x;

void *work(void *unused) {
  sem_wait(&free_places);
  int seen = x;
  x = seen + 1;
  sem_post(&free_places);
  return 0;
}

int main(void) {
  pthread_t one, two;
  sem_init(&free_places, 0, 1);
  pthread_create(&one, 0, work, 0);
  pthread_create(&two, 0, work, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  assert(x == 2);
  return 0;
}
