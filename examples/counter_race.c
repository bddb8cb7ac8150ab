/* Two threads add 1 to a shared counter without a lock.
 *
 * An increment is a load and a store; when both threads load before either stores, one of the two
 * additions is lost.
 *
 *     plait explore examples/counter_race.c
 *         VERDICT: false (assertions), with the shortest interleaving that loses an update
 *     plait explore --property no-data-race examples/counter_race.c
 *         VERDICT: false (no-data-race)
 */
#include <assert.h>
#include <pthread.h>

int counter;

void *add_one(void *unused) {
  counter = counter + 1;
  return 0;
}

int main(void) {
  pthread_t first, second;
  pthread_create(&first, 0, add_one, 0);
  pthread_create(&second, 0, add_one, 0);
  pthread_join(first, 0);
  pthread_join(second, 0);
  assert(counter == 2);
  return 0;
}
