// A section between __VERIFIER_atomic_begin and end is one step, also against those without.
// expect assertions: true
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

int x, y;

static void *both(void *unused) {
  __VERIFIER_atomic_begin();
  x++;
  y++;
  __VERIFIER_atomic_end();
  return NULL;
}

static void *check(void *unused) {
  __VERIFIER_atomic_begin();
  assert(x == y);
  __VERIFIER_atomic_end();
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
