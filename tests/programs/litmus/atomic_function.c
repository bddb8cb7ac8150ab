// The body of a function named __VERIFIER_atomic_ is one step.
// expect assertions: true
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

int x, y;

static void __VERIFIER_atomic_both(void) {
  x++;
  y++;
}

static void __VERIFIER_atomic_check(void) { assert(x == y); }

static void *both(void *unused) {
  __VERIFIER_atomic_both();
  return NULL;
}

static void *check(void *unused) {
  __VERIFIER_atomic_check();
  return NULL;
}

int main(void) {
  pthread_t thread_one, thread_two, thread_three;
  pthread_create(&thread_one, NULL, both, NULL);
  pthread_create(&thread_two, NULL, both, NULL);
  pthread_create(&thread_three, NULL, check, NULL);
  pthread_join(thread_one, NULL);
  pthread_join(thread_two, NULL);
  pthread_join(thread_three, NULL);
  assert(x == 2);
  return 0;
}
