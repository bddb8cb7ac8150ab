// A compare-and-swap cannot tell a node that was popped and pushed again: node 2 is in the stack
// though its new owner has it.
// expect assertions: false
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Nodes are 1, 2, 3; 0 is the end. */
atomic_int head = 1;
atomic_int next[4] = {0, 2, 3, 0};

static int pop(void) {
  int top = atomic_load(&head);
  if (top == 0) return 0;
  int below = atomic_load(&next[top]);
  return atomic_compare_exchange_strong(&head, &top, below) ? top : 0;
}

static void *slow(void *unused) {
  pop();
  return NULL;
}

static void *fast(void *unused) {
  int one = pop();
  int two = pop();
  if (one == 1 && two == 2) {
    atomic_store(&next[1], atomic_load(&head));
    atomic_store(&head, 1);
    assert(atomic_load(&head) != 2);
  }
  return NULL;
}

int main(void) {
  pthread_t thread_one, thread_two;
  pthread_create(&thread_one, NULL, slow, NULL);
  pthread_create(&thread_two, NULL, fast, NULL);
  pthread_join(thread_one, NULL);
  pthread_join(thread_two, NULL);
  return 0;
}
