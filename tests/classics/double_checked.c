#include "orders.h"
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int data; atomic_int ready;
int get(void) {
  if (!atomic_load_explicit(&ready, ACQ)) {
    pthread_mutex_lock(&m);
    if (!atomic_load_explicit(&ready, RLX)) { data = 42; atomic_store_explicit(&ready, 1, REL); }
    pthread_mutex_unlock(&m);
  }
  return data;
}
void *use(void *p) { assert(get() == 42); return 0; }
int main(void) {
  pthread_t s, t; pthread_create(&s, 0, use, 0); pthread_create(&t, 0, use, 0);
  pthread_join(s, 0); pthread_join(t, 0);
}
