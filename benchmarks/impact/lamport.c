/* Lamport's fast mutual exclusion, here for two threads: without contention it looks at no flag.
 * Checked: never are both inside, so that what a thread writes there stays until it has read it. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { NOBODY = 0, LEFT = 1, RIGHT = 2 };

atomic_int left_tries, right_tries;
atomic_int last_to_try; /* the first gate: who came through last */
atomic_int gate = NOBODY; /* the second gate: who closed it */
int inside;

void *left(void *unused) {
  while (1) {
  again:
    left_tries = 1;
    last_to_try = LEFT;
    if (gate != NOBODY) {
      left_tries = 0;
      while (gate != NOBODY) {
      }
      goto again;
    }
    gate = LEFT;
    if (last_to_try != LEFT) {
      left_tries = 0;
      while (right_tries) {
      }
      if (gate != LEFT) {
        while (gate != NOBODY) {
        }
        goto again;
      }
    }
    inside = 1;
    assert(inside == 1);
    gate = NOBODY;
    left_tries = 0;
  }
  return 0;
}

void *right(void *unused) {
  while (1) {
  again:
    right_tries = 1;
    last_to_try = RIGHT;
    if (gate != NOBODY) {
      right_tries = 0;
      while (gate != NOBODY) {
      }
      goto again;
    }
    gate = RIGHT;
    if (last_to_try != RIGHT) {
      right_tries = 0;
      while (left_tries) {
      }
      if (gate != RIGHT) {
        while (gate != NOBODY) {
        }
        goto again;
      }
    }
    inside = 2;
    assert(inside == 2);
    gate = NOBODY;
    right_tries = 0;
  }
  return 0;
}

int main(void) {
  pthread_t left_thread, right_thread;
  pthread_create(&left_thread, 0, left, 0);
  pthread_create(&right_thread, 0, right, 0);
  pthread_join(left_thread, 0);
  pthread_join(right_thread, 0);
  return 0;
}
