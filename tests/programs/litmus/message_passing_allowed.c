// The reader may look at the flag before, and at the data after the writer wrote them.
// expect assertions: false
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

atomic_int data, flag;
int seen_flag, seen_data;

static void *writer(void *unused) {
  atomic_store(&data, 1);
  atomic_store(&flag, 1);
  return NULL;
}

static void *reader(void *unused) {
  seen_flag = atomic_load(&flag);
  seen_data = atomic_load(&data);
  return NULL;
}

int main(void) {
  pthread_t thread_one, thread_two;
  pthread_create(&thread_one, NULL, writer, NULL);
  pthread_create(&thread_two, NULL, reader, NULL);
  pthread_join(thread_one, NULL);
  pthread_join(thread_two, NULL);
  assert(!(seen_flag == 0 && seen_data == 1));
  return 0;
}
