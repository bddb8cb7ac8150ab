// main returns without a join and ends the process, unless the thread fails before.
#include <assert.h>
#include <pthread.h>

int x;

void *work(void *unused) {
  assert(x == 0);
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, work, 0);
  x = 1;
  return 0;
}
