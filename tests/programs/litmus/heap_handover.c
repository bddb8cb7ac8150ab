// A block goes from one thread to the other, which frees it.
// expect assertions: true
// expect no-data-race: true
// expect valid-memsafety: true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

_Atomic(int *) slot;

static void *sender(void *unused) {
  int *block = malloc(sizeof *block);
  *block = 9;
  atomic_store(&slot, block);
  return NULL;
}

int main(void) {
  pthread_t thread;
  int *block;
  pthread_create(&thread, NULL, sender, NULL);
  pthread_join(thread, NULL);
  block = atomic_exchange(&slot, NULL);
  assert(*block == 9);
  free(block);
  return 0;
}
