// A thread stores a function at an index that nobody knows: the table calls it once.
#include <assert.h>
#include <pthread.h>
_Bool __VERIFIER_nondet_bool(void);
static int one(void) { return 1; }
static int two(void) { return 2; }
static int (*table[2])(void) = {one, one};
static unsigned n;
static void *run(void *arg) {
  table[n] = two;
  return 0;
}
int main(void) {
  pthread_t t;
  n = __VERIFIER_nondet_bool();
  pthread_create(&t, 0, run, 0);
  pthread_join(t, 0);
  int first = table[0](), second = table[1]();
  assert(first + second == 3);
  return 0;
}
