// The classic mistake: all threads get the address of the loop counter.
// expect assertions: false
// expect no-data-race: false
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

atomic_int sum;

static void *work(void *argument) {
  sum += *(int *)argument;
  return NULL;
}

int main(void) {
  pthread_t threads[2];
  int i;
  for (i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, &i);
  pthread_join(threads[0], NULL);
  pthread_join(threads[1], NULL);
  assert(sum == 1);
  return 0;
}
