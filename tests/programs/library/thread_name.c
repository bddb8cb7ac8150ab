// The name of the running thread, by a call with a varying number of arguments.
// expect assertions: true
#include <assert.h>
#include <sys/prctl.h>

int main(void) {
  char name[16] = "worker";
  assert(prctl(PR_SET_NAME, name) == 0);
  assert(prctl(PR_SET_NAME, name, 0, 0, 0) == 0);
  return 0;
}
