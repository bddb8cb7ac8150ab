#include "orders.h"
/* A new version is published by its pointer; the old one stays (no reclamation). */
struct config { int a, b; };
struct config first = {1, 1}, second;
_Atomic(struct config *) current = &first;
void *update(void *p) {
  second.a = 2;
  second.b = 2;
  atomic_store_explicit(&current, &second, REL);
  return 0;
}
void *use(void *p) {
  struct config *c = atomic_load_explicit(&current, ACQ);
  assert(c->a == c->b);
  return 0;
}
int main(void) {
  pthread_t s, t, u;
  pthread_create(&s, 0, update, 0); pthread_create(&t, 0, use, 0); pthread_create(&u, 0, use, 0);
  pthread_join(s, 0); pthread_join(t, 0); pthread_join(u, 0);
}
