#include "orders.h"
#define N 2
int items[N]; atomic_uint head, tail;
void *producer(void *p) {
  for (int i = 0; i < 3; i++) {
    unsigned t = atomic_load_explicit(&tail, RLX);
    while (t - atomic_load_explicit(&head, ACQ) == N) ;
    items[t % N] = i + 1;
    atomic_store_explicit(&tail, t + 1, REL);
  }
  return 0;
}
void *consumer(void *p) {
  for (int i = 0; i < 3; i++) {
    unsigned h = atomic_load_explicit(&head, RLX);
    while (atomic_load_explicit(&tail, ACQ) == h) ;
    assert(items[h % N] == i + 1);
    atomic_store_explicit(&head, h + 1, REL);
  }
  return 0;
}
int main(void) {
  pthread_t s, t; pthread_create(&s, 0, producer, 0); pthread_create(&t, 0, consumer, 0);
  pthread_join(s, 0); pthread_join(t, 0);
}
