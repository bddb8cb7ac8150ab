#include "orders.h"
struct node { int value; struct node *next; };
_Atomic(struct node *) top;
void push(int value) {
  struct node *new = malloc(sizeof *new);
  new->value = value;
  struct node *old = atomic_load_explicit(&top, RLX);
  do new->next = old;
  while (!atomic_compare_exchange_strong_explicit(&top, &old, new, REL, RLX));
}
int pop(void) {
  struct node *old = atomic_load_explicit(&top, ACQ);
  while (old && !atomic_compare_exchange_strong_explicit(&top, &old, old->next, ACQ, ACQ)) ;
  return old ? old->value : 0;
}
void *pusher(void *p) { push(1); return 0; }
void *popper(void *p) { int v = pop(); assert(v == 0 || v == 1 || v == 2); return 0; }
int main(void) {
  pthread_t s, t; push(2); pthread_create(&s, 0, pusher, 0); pthread_create(&t, 0, popper, 0);
  pthread_join(s, 0); pthread_join(t, 0);
}
