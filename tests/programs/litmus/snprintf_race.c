// snprintf writes characters one after the other, as plain accesses.
// expect no-data-race: false
// expect assertions: false
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

char text[4];
static void *work(void *unused) {
  snprintf(text, sizeof text, "ab");
  return NULL;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, work, NULL);
  if (text[0] == 'a') assert(text[1] == 'b');
  pthread_join(thread, NULL);
  return 0;
}
