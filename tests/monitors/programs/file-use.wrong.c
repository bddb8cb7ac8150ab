#include <pthread.h>
#include <stdio.h>
static FILE *log_file;
static void *work(void *unused) {
  fputs("working", log_file);
  return 0;
}
int main(void) {
  pthread_t thread;
  log_file = fopen("log", "w");
  if (log_file == 0) return 1;
  pthread_create(&thread, 0, work, 0);

  fclose(log_file);
  pthread_join(thread, 0);
  return 0;
}
