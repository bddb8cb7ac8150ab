/* Szymanski's algorithm for two threads: a waiting room whose door closes behind those inside.
 * Checked: never are both in the critical section, so that what is written there stays. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { OUTSIDE = 0, ASKING = 1, WAITING = 2, IN_DOOR = 3, DOOR_CLOSED = 4 };

atomic_int left_stage, right_stage;
int inside;

void *left(void *unused) {
  while (1) {
    left_stage = ASKING;
    while (right_stage >= IN_DOOR) {
    }
    left_stage = IN_DOOR;
    if (right_stage == ASKING) {
      left_stage = WAITING;
      while (right_stage != DOOR_CLOSED) {
      }
    }
    left_stage = DOOR_CLOSED; /* the left thread goes before the right one: no wait */
    inside = 1;
    assert(inside == 1);
    int right = right_stage;
    while (right == WAITING || right == IN_DOOR)
      right = right_stage;
    left_stage = OUTSIDE;
  }
  return 0;
}

void *right(void *unused) {
  while (1) {
    right_stage = ASKING;
    while (left_stage >= IN_DOOR) {
    }
    right_stage = IN_DOOR;
    if (left_stage == ASKING) {
      right_stage = WAITING;
      while (left_stage != DOOR_CLOSED) {
      }
    }
    right_stage = DOOR_CLOSED;
    while (left_stage >= WAITING) {
    }
    inside = 2;
    assert(inside == 2);
    right_stage = OUTSIDE;
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
