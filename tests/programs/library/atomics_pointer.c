// C11 moves atomic pointers by elements (gcc's own header moves them by bytes).
// expect assertions: true
#include <assert.h>
#include <stdatomic.h>

int numbers[4];
_Atomic(int *) place = numbers;

int main(void) {
  assert(atomic_fetch_add(&place, 2) == numbers && place == numbers + 2);
  assert(atomic_fetch_sub_explicit(&place, 1, memory_order_relaxed) == numbers + 2);
  assert(atomic_load_explicit(&place, memory_order_acquire) == numbers + 1);
  return 0;
}
