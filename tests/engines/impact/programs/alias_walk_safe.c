// The same store is independent of the checker in every round.
#include <assert.h>
#include <pthread.h>

int v[3];

void *check(void *unused) {
  assert(v[2] == 0);
  return 0;
}

void *writer(void *unused) {
  for (int i = 0; i < 2; i++) {
    v[i] = 1;
    v[i] = 0;
  }
  return 0;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, check, 0);
  pthread_create(&two, 0, writer, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  return 0;
}
