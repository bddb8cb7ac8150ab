// A recursive function, depth 3, one call in each thread, one after the other.
#include <assert.h>
#include <pthread.h>

int x;

static int count(int depth) {
  if (depth == 0)
    return 0;
  x = x + 1;
  return count(depth - 1) + 1;
}

void *work(void *unused) {
  int calls = count(3);
  assert(calls == 3);
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, work, 0);
  pthread_join(thread, 0);
  count(3);
  assert(x == 6);
  return 0;
}
