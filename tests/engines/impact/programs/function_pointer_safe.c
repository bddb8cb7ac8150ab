// A thread calls one of two functions through a pointer that was chosen before; only one of them
// runs.
#include <assert.h>
#include <pthread.h>

extern _Bool __VERIFIER_nondet_bool(void);

int x, y;

static void set_x(void) { x = 1; }

static void set_y(void) { y = 1; }

void (*action)(void) = set_y;

void *work(void *unused) {
  action();
  return 0;
}

void *check(void *unused) {
  assert(x == 0 || y == 0);
  return 0;
}

int main(void) {
  pthread_t one, two;
  if (__VERIFIER_nondet_bool())
    action = set_x;
  pthread_create(&one, 0, work, 0);
  pthread_create(&two, 0, check, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  return 0;
}
