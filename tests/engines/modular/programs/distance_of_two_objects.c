#include <assert.h>
#include <stdlib.h>

extern _Bool __VERIFIER_nondet_bool(void);

int main() {
  char *last = 0;
  while (__VERIFIER_nondet_bool()) {
    char *now = malloc(1);
    if (last) assert((long)now - (long)last == 0);
    last = now;
  }
  return 0;
}
