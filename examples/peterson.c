/* Peterson's mutual exclusion for two threads, with C11 atomics.
 *
 *     plait explore examples/peterson.c
 *         VERDICT: true   (never are both threads in the critical section)
 *     plait explore --property no-data-race examples/peterson.c
 *         VERDICT: true   (so the plain accesses in there do not race either)
 *     plait explore -DNO_TURN examples/peterson.c
 *         VERDICT: false (assertions)   (without the turn, each waits only for the other's flag...
 *         and looks at it too early)
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int wants[2];
atomic_int turn;
int inside; /* how many threads are in the critical section */

static void enter(int me) {
  int other = 1 - me;
#ifdef NO_TURN
  while (atomic_load(&wants[other])) {
  }
  atomic_store(&wants[me], 1);
#else
  atomic_store(&wants[me], 1);
  atomic_store(&turn, other);
  while (atomic_load(&wants[other]) && atomic_load(&turn) == other) {
  }
#endif
}

static void leave(int me) { atomic_store(&wants[me], 0); }

void *contender(void *argument) {
  int me = *(int *)argument;
  enter(me);
  inside++;
  assert(inside == 1);
  inside--;
  leave(me);
  return 0;
}

int main(void) {
  static int names[2] = {0, 1};
  pthread_t first, second;
  pthread_create(&first, 0, contender, &names[0]);
  pthread_create(&second, 0, contender, &names[1]);
  pthread_join(first, 0);
  pthread_join(second, 0);
  return 0;
}
