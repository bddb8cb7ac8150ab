// A failed assumption is no way out: two threads wait for each other while main runs for ever.
// expect no-deadlock: false
#include <pthread.h>
#include <stddef.h>

extern _Bool __VERIFIER_nondet_bool(void);
extern void __VERIFIER_assume(int);

pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
volatile int x;

static void *one(void *unused) {
  pthread_mutex_lock(&a);
  pthread_mutex_lock(&b);
  pthread_mutex_unlock(&b);
  pthread_mutex_unlock(&a);
  return NULL;
}
static void *other(void *unused) {
  pthread_mutex_lock(&b);
  pthread_mutex_lock(&a);
  pthread_mutex_unlock(&a);
  pthread_mutex_unlock(&b);
  return NULL;
}

int main(void) {
  pthread_t thread_one, thread_two;
  pthread_create(&thread_one, NULL, one, NULL);
  pthread_create(&thread_two, NULL, other, NULL);
  for (;;) {
    _Bool c = __VERIFIER_nondet_bool();
    __VERIFIER_assume(c == 0);
    x = c;
  }
}
