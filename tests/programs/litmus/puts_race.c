// Output reads what it prints.
// expect no-data-race: false
#include <pthread.h>
#include <stdio.h>

char text[4] = "abc";
static void *work(void *unused) {
  puts(text);
  return NULL;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, work, NULL);
  text[0] = 'x';
  pthread_join(thread, NULL);
  return 0;
}
