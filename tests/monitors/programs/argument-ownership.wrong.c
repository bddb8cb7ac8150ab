#include <pthread.h>
#include <stdlib.h>
static void *work(void *argument) {
  free(argument);
  return 0;
}
int main(void) {
  pthread_t thread;
  int *number = malloc(sizeof *number);
  *number = 1;
  if (pthread_create(&thread, 0, work, number) == 0) pthread_join(thread, 0);
  free(number);
  return 0;
}
