// Double-checked initialisation with a plain pointer races.
// expect no-data-race: false
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int object;
static int *instance;

static void *get(void *unused) {
  if (instance == NULL) {
    pthread_mutex_lock(&mutex);
    if (instance == NULL) {
      object++;
      instance = &object;
    }
    pthread_mutex_unlock(&mutex);
  }
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
