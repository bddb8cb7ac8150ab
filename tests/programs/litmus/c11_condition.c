// C11 condition variables.
// expect assertions: true
// expect no-deadlock: true
#include <assert.h>
#include <stddef.h>
#include <threads.h>

mtx_t mutex;
cnd_t condition;
int ready;

static int waiter(void *unused) {
  mtx_lock(&mutex);
  while (!ready) cnd_wait(&condition, &mutex);
  mtx_unlock(&mutex);
  return 7;
}

int main(void) {
  thrd_t thread;
  int result;
  mtx_init(&mutex, mtx_plain);
  cnd_init(&condition);
  thrd_create(&thread, waiter, NULL);
  mtx_lock(&mutex);
  ready = 1;
  cnd_signal(&condition);
  mtx_unlock(&mutex);
  thrd_join(thread, &result);
  assert(result == 7);
  return 0;
}
