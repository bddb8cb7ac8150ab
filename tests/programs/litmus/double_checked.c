// Double-checked initialisation with an atomic pointer.
// expect assertions: true
// expect no-data-race: true
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int object;
_Atomic(int *) instance;

static void *get(void *unused) {
  int *seen = atomic_load_explicit(&instance, memory_order_acquire);
  if (seen == NULL) {
    pthread_mutex_lock(&mutex);
    seen = atomic_load_explicit(&instance, memory_order_relaxed);
    if (seen == NULL) {
      object++;
      seen = &object;
      atomic_store_explicit(&instance, seen, memory_order_release);
    }
    pthread_mutex_unlock(&mutex);
  }
  assert(*seen == 1);
  return NULL;
}

int main(void) {
  pthread_t thread_one, thread_two;
  pthread_create(&thread_one, NULL, get, NULL);
  pthread_create(&thread_two, NULL, get, NULL);
  pthread_join(thread_one, NULL);
  pthread_join(thread_two, NULL);
  return 0;
}
