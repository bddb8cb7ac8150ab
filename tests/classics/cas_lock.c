#include "orders.h"
atomic_int l; int x;
void *add(void *p) {
  int free = 0;
  while (!atomic_compare_exchange_weak_explicit(&l, &free, 1, ACQ, RLX)) free = 0;
  x = x + 1;
  atomic_store_explicit(&l, 0, REL);
  return 0;
}
int main(void) {
  pthread_t s, t; pthread_create(&s, 0, add, 0); pthread_create(&t, 0, add, 0);
  pthread_join(s, 0); pthread_join(t, 0); assert(x == 2);
}
