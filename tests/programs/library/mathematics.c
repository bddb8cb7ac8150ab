// The functions of <math.h> with exact results.
// expect assertions: true
#include <assert.h>
#include <math.h>

int main(void) {
  volatile double two = 2.0, small = 0.5, minus = -2.5;
  assert(sqrt(two) == 0x1.6a09e667f3bcdp+0 && sqrt(4.0) == 2.0 && sqrt(small * small) == small);
  assert(floor(minus) == -3.0 && ceil(minus) == -2.0 && trunc(minus) == -2.0);
  assert(round(minus) == -3.0 && rint(minus) == -2.0 && rint(3.5) == 4.0 && round(0.49) == 0.0);
  assert(fabs(minus) == 2.5 && fmax(two, minus) == two && fmin(two, minus) == minus);
  assert(copysign(two, minus) == -2.0 && lround(minus) == -3);
  return 0;
}
