// Two semaphores taken in opposite order.
// expect no-deadlock: false
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

sem_t a, b;

static void *left(void *unused) {
  sem_wait(&a);
  sem_wait(&b);
  sem_post(&b);
  sem_post(&a);
  return NULL;
}

static void *right(void *unused) {
  sem_wait(&b);
  sem_wait(&a);
  sem_post(&a);
  sem_post(&b);
  return NULL;
}

int main(void) {
  pthread_t one, two;
  sem_init(&a, 0, 1);
  sem_init(&b, 0, 1);
  pthread_create(&one, NULL, left, NULL);
  pthread_create(&two, NULL, right, NULL);
  pthread_join(one, NULL);
  pthread_join(two, NULL);
  return 0;
}
