/* Treiber's lock-free stack: push and pop swing the top pointer with compare-and-swap.
 *
 *     plait explore examples/lock_free_stack.c
 *         VERDICT: true   (each item is popped exactly once)
 *     plait explore -DREUSE examples/lock_free_stack.c
 *         VERDICT: false (assertions)   (the ABA problem: a popped node that is pushed again
 *         makes an old compare-and-swap succeed)
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct node {
  struct node *_Atomic next;
  atomic_int taken;
};

struct node nodes[2];
struct node *_Atomic top;

static void push(struct node *node) {
  struct node *seen = atomic_load(&top);
  do
    atomic_store(&node->next, seen);
  while (!atomic_compare_exchange_weak(&top, &seen, node));
}

static struct node *pop(void) {
  struct node *seen = atomic_load(&top);
  while (seen && !atomic_compare_exchange_weak(&top, &seen, atomic_load(&seen->next))) {
  }
  return seen;
}

static void take(struct node *node) {
  if (node) {
    int before = atomic_fetch_add(&node->taken, 1);
    assert(before == 0);
  }
}

void *popper(void *unused) {
  take(pop());
  return 0;
}

void *recycler(void *unused) {
  struct node *first = pop();
  take(first);
#ifdef REUSE
  struct node *second = pop();
  take(second);
  if (first) {
    atomic_store(&first->taken, 0);
    push(first);
  }
#endif
  return 0;
}

int main(void) {
  pthread_t a, b;
  push(&nodes[1]);
  push(&nodes[0]);
  pthread_create(&a, 0, popper, 0);
  pthread_create(&b, 0, recycler, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  take(pop());
  take(pop());
  return 0;
}
