// A third thread moves the index: whether the writer and the checker are independent depends on
// when.
#include <assert.h>
#include <pthread.h>

int v[2];
int i;

void *check(void *unused) {
  assert(v[1] == 0);
  return 0;
}

void *writer(void *unused) {
  v[i] = 1;
  v[i] = 0;
  return 0;
}

void *move(void *unused) {
  i = 1;
  return 0;
}

int main(void) {
  pthread_t one, two, three;
  pthread_create(&one, 0, check, 0);
  pthread_create(&two, 0, writer, 0);
  pthread_create(&three, 0, move, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  pthread_join(three, 0);
  return 0;
}
