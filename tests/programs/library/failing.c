// err and its like do not return, error does if its status is 0.
// expect assertions: true
#include <assert.h>
#include <err.h>

extern void error(int, int, const char *, ...);
extern _Bool __VERIFIER_nondet_bool(void);
int x;

int main(void) {
  error(0, 0, "message");
  x = 1;
  if (__VERIFIER_nondet_bool())
    error(1, 0, "message");
  else
    errx(1, "message");
  assert(0);
  return x;
}
