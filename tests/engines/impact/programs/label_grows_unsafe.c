// To skip the filler behind a write to a[index & 3], the label of an older node gets a fact about
// z, at the moment when that node is about to cover a newer one to which the fact does not apply.
#include <assert.h>
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_assume(int);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

int a[4];
unsigned z = 1;
int started;

void *fill(void *unused) {
  started = 1;
  while (1)
    a[2] = __VERIFIER_nondet_int();
  return 0;
}

void *move(void *unused) {
  int is_first = 1;
  unsigned index = 0;
  __VERIFIER_assume(started);
  while (1) {
    __VERIFIER_atomic_begin();
    if (is_first) {
      is_first = 0;
    } else {
      a[index & 3] = (int)z;
      z = z + 2;
    }
    __VERIFIER_atomic_end();
    __VERIFIER_atomic_begin();
    index = z;
    z = 0;
    __VERIFIER_atomic_end();
  }
  return 0;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, fill, 0);
  pthread_create(&two, 0, move, 0);
  assert(z != 2);
  return 0;
}
