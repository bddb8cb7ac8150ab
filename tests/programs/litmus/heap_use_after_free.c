// One thread frees what the other still reads.
// expect valid-memsafety: false
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static int *block;

static void *reader(void *unused) {
  return *block ? &block : NULL;
}

int main(void) {
  pthread_t thread;
  block = calloc(1, sizeof *block);
  pthread_create(&thread, NULL, reader, NULL);
  free(block);
  pthread_join(thread, NULL);
  return 0;
}
