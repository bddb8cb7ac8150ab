#include "orders.h"
struct waiter { _Atomic(struct waiter *) next; atomic_int waits; };
struct waiter waiters[2];
_Atomic(struct waiter *) last;
int x;
void *add(void *p) {
  struct waiter *mine = p;
  atomic_store_explicit(&mine->next, NULL, RLX);
  atomic_store_explicit(&mine->waits, 1, RLX);
  struct waiter *before = atomic_exchange_explicit(&last, mine, memory_order_acq_rel);
  if (before) {
    atomic_store_explicit(&before->next, mine, memory_order_release);
    while (atomic_load_explicit(&mine->waits, ACQ)) ;
  }
  x = x + 1;
  struct waiter *next = atomic_load_explicit(&mine->next, memory_order_acquire);
  if (!next) {
    struct waiter *alone = mine;
    if (atomic_compare_exchange_strong_explicit(&last, &alone, NULL, memory_order_release, RLX))
      return 0;
    while (!(next = atomic_load_explicit(&mine->next, memory_order_acquire))) ;
  }
  atomic_store_explicit(&next->waits, 0, REL);
  return 0;
}
int main(void) {
  pthread_t s, t;
  pthread_create(&s, 0, add, &waiters[0]); pthread_create(&t, 0, add, &waiters[1]);
  pthread_join(s, 0); pthread_join(t, 0);
  assert(x == 2);
}
