#include "orders.h"
atomic_flag l = ATOMIC_FLAG_INIT; int x;
void *add(void *p) {
  while (atomic_flag_test_and_set_explicit(&l, ACQ)) ;
  x = x + 1;
  atomic_flag_clear_explicit(&l, REL);
  return 0;
}
int main(void) {
  pthread_t s, t; pthread_create(&s, 0, add, 0); pthread_create(&t, 0, add, 0);
  pthread_join(s, 0); pthread_join(t, 0); assert(x == 2);
}
