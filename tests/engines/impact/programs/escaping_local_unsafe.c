// A local variable that another thread writes through a pointer, read before the join.
#include <assert.h>
#include <pthread.h>

void *writer(void *place) {
  *(int *)place = 1;
  return 0;
}

int main(void) {
  pthread_t thread;
  int local = 0;
  pthread_create(&thread, 0, writer, &local);
  assert(local == 0);
  pthread_join(thread, 0);
  return 0;
}
