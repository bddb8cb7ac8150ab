/* The counter again, each increment under a mutex: no update is lost, nothing races.
 *
 *     plait explore examples/locked_counter.c
 *         VERDICT: true
 *     plait explore --property assertions --property no-data-race --property no-deadlock \
 *                   --property lock-misuse examples/locked_counter.c
 *         VERDICT: true
 */
#include <assert.h>
#include <pthread.h>

enum { THREADS = 2, ROUNDS = 2 };

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int counter;

void *count(void *unused) {
  for (int round = 0; round < ROUNDS; round++) {
    pthread_mutex_lock(&lock);
    counter++;
    pthread_mutex_unlock(&lock);
  }
  return 0;
}

int main(void) {
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++)
    pthread_create(&threads[i], 0, count, 0);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], 0);
  assert(counter == THREADS * ROUNDS);
  return 0;
}
