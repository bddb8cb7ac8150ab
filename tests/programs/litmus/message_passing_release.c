// Release and acquire order the plain data: no race.
// expect assertions: true
// expect no-data-race: true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

int data;
atomic_int flag;

static void *writer(void *unused) {
  data = 42;
  atomic_store_explicit(&flag, 1, memory_order_release);
  return NULL;
}

static void *reader(void *unused) {
  if (atomic_load_explicit(&flag, memory_order_acquire)) assert(data == 42);
  return NULL;
}

int main(void) {
  pthread_t thread_one, thread_two;
  pthread_create(&thread_one, NULL, writer, NULL);
  pthread_create(&thread_two, NULL, reader, NULL);
  pthread_join(thread_one, NULL);
  pthread_join(thread_two, NULL);
  return 0;
}
