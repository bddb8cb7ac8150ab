// The borrower gives the pointer back before it writes.
#include <assert.h>
#include <pthread.h>

int *_Atomic shared;

void *lend(void *unused) {
  int local = 1;
  shared = &local;
  while (shared) {
  }
  assert(local == 2);
  return 0;
}

void *borrow(void *unused) {
  int *place;
  while (!(place = shared)) {
  }
  shared = 0;
  *place = 2;
  return 0;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, lend, 0);
  pthread_create(&two, 0, borrow, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  return 0;
}
