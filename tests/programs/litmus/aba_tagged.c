// A counter beside the pointer makes each push different.
// expect assertions: true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Low 8 bits: node; above: number of pushes. */
atomic_uint head = 1;
atomic_uint next[4] = {0, 2, 3, 0};

static unsigned pop(void) {
  unsigned top = atomic_load(&head);
  unsigned node = top & 255;
  if (node == 0) return 0;
  unsigned below = (top & ~255u) | atomic_load(&next[node]);
  return atomic_compare_exchange_strong(&head, &top, below) ? node : 0;
}

static void *slow(void *unused) {
  pop();
  return NULL;
}

static void *fast(void *unused) {
  unsigned one = pop();
  unsigned two = pop();
  if (one == 1 && two == 2) {
    unsigned top = atomic_load(&head);
    atomic_store(&next[1], top & 255);
    atomic_store(&head, ((top & ~255u) + 256) | 1);
    assert((atomic_load(&head) & 255) != 2);
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
