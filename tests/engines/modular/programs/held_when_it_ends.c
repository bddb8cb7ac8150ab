#include <assert.h>
#include <pthread.h>

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int x;

void *f(void *unused) {
  pthread_mutex_lock(&m);
  x = 1;
  return 0;
}

void *g(void *unused) {
  pthread_mutex_lock(&m);
  assert(x == 0);
  pthread_mutex_unlock(&m);
  return 0;
}

int main() {
  pthread_t a, b;
  pthread_create(&a, 0, f, 0);
  pthread_join(a, 0);
  pthread_mutex_init(&m, 0);
  pthread_create(&b, 0, g, 0);
  pthread_join(b, 0);
  return 0;
}
