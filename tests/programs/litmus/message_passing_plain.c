// Plain accesses race, whatever sequential consistency says about their values.
// expect assertions: true
// expect no-data-race: false
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

int data, flag;
int seen_flag, seen_data;

static void *writer(void *unused) {
  data = 1;
  flag = 1;
  return NULL;
}

static void *reader(void *unused) {
  seen_flag = flag;
  seen_data = data;
  return NULL;
}

int main(void) {
  pthread_t thread_one, thread_two;
  pthread_create(&thread_one, NULL, writer, NULL);
  pthread_create(&thread_two, NULL, reader, NULL);
  pthread_join(thread_one, NULL);
  pthread_join(thread_two, NULL);
  assert(!(seen_flag == 1 && seen_data == 0));
  return 0;
}
