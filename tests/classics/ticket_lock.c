#include "orders.h"
atomic_uint next, serving; int x;
void *add(void *p) {
  unsigned mine = atomic_fetch_add_explicit(&next, 1, RLX);
  while (atomic_load_explicit(&serving, ACQ) != mine) ;
  x = x + 1;
  atomic_store_explicit(&serving, mine + 1, REL);
  return 0;
}
int main(void) {
  pthread_t s, t; pthread_create(&s, 0, add, 0); pthread_create(&t, 0, add, 0);
  pthread_join(s, 0); pthread_join(t, 0); assert(x == 2);
}
