// C11 threads, mutexes, thread-specific storage and call_once.
// expect assertions: true
// expect no-data-race: true
// expect no-deadlock: true
#include <assert.h>
#include <stddef.h>
#include <threads.h>

mtx_t mutex;
once_flag once = ONCE_FLAG_INIT;
tss_t key;
int x, initialised;
static void initialise(void) { initialised++; }

static int work(void *argument) {
  call_once(&once, initialise);
  tss_set(key, argument);
  mtx_lock(&mutex);
  mtx_lock(&mutex);
  x += *(int *)tss_get(key);
  mtx_unlock(&mutex);
  mtx_unlock(&mutex);
  thrd_exit(initialised);
}

int main(void) {
  thrd_t one, two;
  int a = 1, b = 2, result;
  assert(mtx_init(&mutex, mtx_plain | mtx_recursive) == thrd_success);
  assert(tss_create(&key, NULL) == thrd_success);
  assert(thrd_create(&one, work, &a) == thrd_success);
  assert(thrd_create(&two, work, &b) == thrd_success);
  assert(thrd_join(one, &result) == thrd_success && result == 1);
  assert(thrd_join(two, &result) == thrd_success && result == 1);
  assert(x == 3 && initialised == 1);
  mtx_destroy(&mutex);
  return 0;
}
