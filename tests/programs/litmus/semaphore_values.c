// What trywait, timedwait and getvalue answer.
// expect assertions: true
// expect no-deadlock: true
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

sem_t semaphore;

int main(void) {
  struct timespec deadline = {1, 0};
  int value;
  assert(sem_init(&semaphore, 0, 2) == 0);
  assert(sem_trywait(&semaphore) == 0);
  assert(sem_timedwait(&semaphore, &deadline) == 0);
  assert(sem_getvalue(&semaphore, &value) == 0 && value == 0);
  assert(sem_trywait(&semaphore) == -1 && errno == EAGAIN);
  assert(sem_timedwait(&semaphore, &deadline) == -1 && errno == ETIMEDOUT);
  assert(sem_post(&semaphore) == 0);
  assert(sem_getvalue(&semaphore, &value) == 0 && value == 1);
  assert(sem_wait(&semaphore) == 0);
  assert(sem_init(&semaphore, 0, 2147483647u) == 0);
  assert(sem_post(&semaphore) == -1 && errno == EOVERFLOW);
  return 0;
}
