// A store through a pointer to one of two places that overlap.
#include <assert.h>
#include <pthread.h>

extern _Bool __VERIFIER_nondet_bool(void);

struct __attribute__((packed)) parts {
  short a, b, c;
} parts;
int *p;
int y;

void *work(void *unused) {
  y = 1;
  y = 2;
  return 0;
}

int main(void) {
  pthread_t thread;
  int is_first = __VERIFIER_nondet_bool();
  p = is_first ? (int *)&parts.a : (int *)&parts.b;
  pthread_create(&thread, 0, work, 0);
  y = 3;
  *p = 0x00010001;
  y = 4;
  if (is_first)
    assert(parts.b == 0);
  return 0;
}
