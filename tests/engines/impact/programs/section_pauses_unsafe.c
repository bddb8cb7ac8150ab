// A loop in an atomic section makes the section several blocks. The first of them reads nothing that
// the writer writes, but the section as a whole does: it must also be tried behind the writer.
#include <assert.h>
#include <pthread.h>

extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

int x;

void *reader(void *unused) {
  int rounds = 0;
  __VERIFIER_atomic_begin();
  while (rounds < 2) rounds++;
  assert(x == 0);
  __VERIFIER_atomic_end();
  return 0;
}

void *writer(void *unused) {
  x = 1;
  return 0;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, reader, 0);
  pthread_create(&two, 0, writer, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  return 0;
}
