// A thread that stands before an atomic section whose assumption never holds unblocks nobody.
// expect no-deadlock: false
#include <pthread.h>
#include <stddef.h>

extern void __VERIFIER_assume(int);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
int flag;

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
static void *stuck(void *unused) {
  __VERIFIER_atomic_begin();
  __VERIFIER_assume(flag == 1);
  __VERIFIER_atomic_end();
  return NULL;
}

int main(void) {
  pthread_t thread_one, thread_two, thread_three;
  pthread_create(&thread_one, NULL, one, NULL);
  pthread_create(&thread_two, NULL, other, NULL);
  pthread_create(&thread_three, NULL, stuck, NULL);
  pthread_join(thread_one, NULL);
  pthread_join(thread_two, NULL);
  return 0;
}
