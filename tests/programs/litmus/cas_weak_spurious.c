// A weak compare-and-swap may fail for no reason.
// expect assertions: false
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int x;

int main(void) {
  int expected = 0;
  assert(atomic_compare_exchange_weak(&x, &expected, 1));
  return 0;
}
