#include "orders.h"
#ifndef WF
#define WF memory_order_release
#endif
#ifndef RF
#define RF memory_order_acquire
#endif
atomic_uint seq; atomic_int a, b;
void *writer(void *p) {
  atomic_store_explicit(&seq, 1, RLX);
  atomic_thread_fence(WF);
  atomic_store_explicit(&a, 1, RLX); atomic_store_explicit(&b, 1, RLX);
  atomic_store_explicit(&seq, 2, REL);
  return 0;
}
void *reader(void *p) {
  unsigned s0, s1; int x, y;
  do {
    s0 = atomic_load_explicit(&seq, ACQ);
    x = atomic_load_explicit(&a, RLX); y = atomic_load_explicit(&b, RLX);
    atomic_thread_fence(RF);
    s1 = atomic_load_explicit(&seq, RLX);
  } while (s0 != s1 || s0 % 2);
  assert(x == y);
  return 0;
}
int main(void) {
  pthread_t s, t; pthread_create(&s, 0, writer, 0); pthread_create(&t, 0, reader, 0);
  pthread_join(s, 0); pthread_join(t, 0);
}
