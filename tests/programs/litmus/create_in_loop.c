// Threads made in a loop, each with its own argument.
// expect assertions: true
// expect no-data-race: true
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

int squares[3];

static void *work(void *argument) {
  long number = (long)argument;
  squares[number] = (int)(number * number);
  return NULL;
}

int main(void) {
  pthread_t threads[3];
  for (long i = 0; i < 3; i++) pthread_create(&threads[i], NULL, work, (void *)i);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  assert(squares[0] == 0 && squares[1] == 1 && squares[2] == 4);
  return 0;
}
