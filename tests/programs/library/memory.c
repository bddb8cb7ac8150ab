// malloc and its like.
// expect assertions: true
// expect valid-memsafety: true
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
  int *numbers = calloc(3, sizeof *numbers);
  assert(numbers[0] == 0 && numbers[2] == 0);
  numbers[0] = 7;
  numbers[1] = 8;
  numbers[2] = 9;
  numbers = realloc(numbers, 5 * sizeof *numbers);
  assert(numbers[0] == 7 && numbers[2] == 9);
  numbers[4] = 1;
  numbers = realloc(numbers, sizeof *numbers);
  assert(numbers[0] == 7);
  free(numbers);
  char *text = realloc(NULL, 4);
  strcpy(text, "abc");
  assert(strcmp(text, "abc") == 0);
  free(text);
  free(NULL);
  void *aligned;
  assert(posix_memalign(&aligned, 64, 10) == 0 && (uintptr_t)aligned % 64 == 0);
  free(aligned);
  assert(posix_memalign(&aligned, 3, 10) != 0);
  volatile size_t many = SIZE_MAX / 2;
  assert(calloc(many, 4) == NULL);
  return 0;
}
