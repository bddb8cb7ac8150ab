// Peterson's algorithm with atomic accesses.
// expect assertions: true
// expect no-data-race: true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

atomic_int wants[2], turn;
int x;

static void work(int me) {
  wants[me] = 1;
  turn = 1 - me;
  while (wants[1 - me] && turn == 1 - me) {
  }
  x++;
  wants[me] = 0;
}

static void *thread(void *unused) {
  work(1);
  return NULL;
}

int main(void) {
  pthread_t one;
  pthread_create(&one, NULL, thread, NULL);
  work(0);
  pthread_join(one, NULL);
  assert(x == 2);
  return 0;
}
