/* Peterson's algorithm: two threads ask for the critical section again and again.
 * Checked: never are both inside, so that what a thread writes there stays until it has read it. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int left_wants, right_wants;
atomic_int turn; /* whoever writes this last lets the other one go first */
int inside;

void *left(void *unused) {
  while (1) {
    left_wants = 1;
    turn = 1;
    while (right_wants && turn == 1) {
    }
    inside = 1;
    assert(inside == 1);
    left_wants = 0;
  }
  return 0;
}

void *right(void *unused) {
  while (1) {
    right_wants = 1;
    turn = 0;
    while (left_wants && turn == 0) {
    }
    inside = 2;
    assert(inside == 2);
    right_wants = 0;
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
