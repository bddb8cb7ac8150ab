// Producer and consumer with a buffer of one place.
// expect assertions: true
// expect no-data-race: true
// expect no-deadlock: true
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

sem_t full, empty;
int place;

static void *producer(void *unused) {
  for (int item = 1; item <= 2; item++) {
    sem_wait(&empty);
    place = item;
    sem_post(&full);
  }
  return NULL;
}

int main(void) {
  pthread_t thread;
  sem_init(&full, 0, 0);
  sem_init(&empty, 0, 1);
  pthread_create(&thread, NULL, producer, NULL);
  for (int item = 1; item <= 2; item++) {
    sem_wait(&full);
    assert(place == item);
    sem_post(&empty);
  }
  pthread_join(thread, NULL);
  return 0;
}
