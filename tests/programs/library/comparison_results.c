// Only the sign of a comparison's result is promised.
// expect assertions: false
#include <assert.h>
#include <string.h>

int main(void) {
  assert(strcmp("c", "a") > 0 && memcmp("a", "c", 1) < 0 && strcmp("a", "a") == 0);
  assert(strcmp("c", "a") == 2);
  return 0;
}
