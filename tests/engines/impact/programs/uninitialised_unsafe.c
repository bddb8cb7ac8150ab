// A local variable that nobody has set may be 7.
#include <assert.h>
#include <pthread.h>

int x;

void *work(void *unused) {
  int level;
  if (level == 7)
    x = level;
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, work, 0);
  pthread_join(thread, 0);
  assert(x == 0);
  return 0;
}
