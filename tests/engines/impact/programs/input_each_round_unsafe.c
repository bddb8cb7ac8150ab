// A new input in every round: two different ones in two rounds. (One value for all would be safe.)
#include <assert.h>
#include <pthread.h>

extern _Bool __VERIFIER_nondet_bool(void);

int changed;

void *work(void *unused) {
  _Bool before = __VERIFIER_nondet_bool();
  while (__VERIFIER_nondet_bool()) {
    _Bool now = __VERIFIER_nondet_bool();
    if (now != before)
      changed = 1;
    before = now;
  }
  return 0;
}

void *check(void *unused) {
  assert(changed == 0);
  return 0;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, work, 0);
  pthread_create(&two, 0, check, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  return 0;
}
