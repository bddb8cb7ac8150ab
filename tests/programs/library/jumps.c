// setjmp returns 0 the first time; nobody jumps here.
// expect assertions: true
#include <assert.h>
#include <setjmp.h>

static jmp_buf buffer;

int main(void) {
  int again = setjmp(buffer);
  assert(!again);
  return 0;
}
