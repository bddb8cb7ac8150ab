// qsort and bsearch.
// expect assertions: true
#include <assert.h>
#include <stdlib.h>

static int ascending(const void *one, const void *other) {
  int left = *(const int *)one, right = *(const int *)other;
  return (left > right) - (left < right);
}

int main(void) {
  int numbers[5] = {3, -1, 4, 1, 5};
  qsort(numbers, 5, sizeof(int), ascending);
  assert(numbers[0] == -1 && numbers[1] == 1 && numbers[2] == 3 && numbers[4] == 5);
  int key = 4, missing = 2;
  assert(bsearch(&key, numbers, 5, sizeof(int), ascending) == &numbers[3]);
  assert(bsearch(&missing, numbers, 5, sizeof(int), ascending) == NULL);
  return 0;
}
