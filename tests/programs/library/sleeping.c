// Sleeping and yielding have no effect, output neither.
// expect assertions: true
#include <assert.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

int main(void) {
  int x = 1;
  printf("%d\n", x++);
  fprintf(stderr, "%d\n", x);
  puts("text");
  usleep(10);
  sched_yield();
  assert(sleep(1) == 0 && x == 2);
  fflush(stdout);
  return 0;
}
