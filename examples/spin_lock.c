/* A lock made of an atomic exchange, which a thread tries again until it succeeds.
 *
 *     plait verify examples/spin_lock.c
 *         VERDICT: true   (no update is lost)
 *     plait verify --property no-data-race examples/spin_lock.c
 *         VERDICT: true
 *     plait verify -DTEST_THEN_SET examples/spin_lock.c
 *         VERDICT: false (assertions)   (to look first and to set then are two steps: both threads
 *         get in)
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int taken;
static int counter;

static void lock(void) {
#ifdef TEST_THEN_SET
  while (atomic_load(&taken))
    ;
  atomic_store(&taken, 1);
#else
  while (atomic_exchange(&taken, 1))
    ;
#endif
}

static void unlock(void) {
  atomic_store(&taken, 0);
}

static void *add_two(void *unused) {
  for (int i = 0; i < 2; i++) {
    lock();
    counter = counter + 1;
    unlock();
  }
  return 0;
}

int main(void) {
  pthread_t first, second;
  pthread_create(&first, 0, add_two, 0);
  pthread_create(&second, 0, add_two, 0);
  pthread_join(first, 0);
  pthread_join(second, 0);
  assert(counter == 4);
  return 0;
}
