/* Which mutex protects the block changes over time: first that of its free mark, then its file's.
 * Checked: whoever has written the block under the mutex of its time finds its own value there. */
#include <assert.h>
#include <pthread.h>

extern _Bool __VERIFIER_nondet_bool(void);

pthread_mutex_t file_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t mark_lock = PTHREAD_MUTEX_INITIALIZER;
int file_has_block;  /* protected by file_lock */
int block_is_marked; /* protected by mark_lock; once set it stays */
int block;           /* protected by mark_lock until it is marked, then by file_lock */

void *use(void *unused) {
  while (__VERIFIER_nondet_bool()) {
    pthread_mutex_lock(&file_lock);
    if (!file_has_block) {
      pthread_mutex_lock(&mark_lock);
      block_is_marked = 1;
      pthread_mutex_unlock(&mark_lock);
      file_has_block = 1;
    }
    block = 1;
    assert(block == 1);
    pthread_mutex_unlock(&file_lock);
  }
  return 0;
}

void *wipe(void *unused) {
  while (__VERIFIER_nondet_bool()) {
    pthread_mutex_lock(&mark_lock);
    if (!block_is_marked) {
      block = 0;
      assert(block == 0);
    }
    pthread_mutex_unlock(&mark_lock);
  }
  return 0;
}

int main(void) {
  pthread_t user, wiper;
  pthread_create(&user, 0, use, 0);
  pthread_create(&wiper, 0, wipe, 0);
  pthread_join(user, 0);
  pthread_join(wiper, 0);
  return 0;
}
