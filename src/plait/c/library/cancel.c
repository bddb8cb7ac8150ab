/* Cancellation, deferred: a thread that was cancelled ends at its next cancellation point, with its
   cleanup handlers and the destructors of its keys, unless it has disabled that. Where a cancellation
   point is in the program says cancellation.txt; functions that block are their own ones.

   A request that is there when a function is called that must be a cancellation point is acted upon
   (POSIX.1-2017 2.9.5.2); one that comes while the thread waits, and so does what it waits for, may be
   or not. */
#include "plait.h"

enum { PLAIT_DEFERRED, PLAIT_ASYNCHRONOUS };

/* Enabled at first, as 0. */
static _Thread_local int __plait_cancel_state;
static _Thread_local int __plait_cancel_type;
_Thread_local int __plait_is_ending;

int pthread_setcancelstate(int state, int *old) {
  if (state != 0 && state != 1) return EINVAL;
  if (old != NULL) *old = __plait_cancel_state;
  __plait_cancel_state = state;
  return 0;
}

/* A thread that can be cancelled at any moment may be anywhere in what it does. */
int pthread_setcanceltype(int type, int *old) {
  if (type != PLAIT_DEFERRED && type != PLAIT_ASYNCHRONOUS) return EINVAL;
#if PLAIT_CANCEL
  if (type == PLAIT_ASYNCHRONOUS) __plait_unsupported("asynchronous cancellation");
#endif
  if (old != NULL) *old = __plait_cancel_type;
  __plait_cancel_type = type;
  return 0;
}

#if PLAIT_CANCEL
/* Whether the thread has to end. In an atomic section. */
int __plait_is_cancelled(void) {
  struct __plait_thread *block = __plait_current;
  if (block == NULL || __plait_is_ending || __plait_cancel_state) return 0;
  return block->cancelled;
}

void __plait_end_cancelled(void) { pthread_exit((void *)-1); /* PTHREAD_CANCELED */ }

/* Its own request a thread finds at its next cancellation point, too. */
int pthread_cancel(unsigned long thread) {
  struct __plait_thread *block = (struct __plait_thread *)thread;
  __plait_atomic_begin();
  PLAIT_IN_LIFETIME(block);
  block->cancelled = 1;
  __plait_atomic_end();
  return 0;
}

void pthread_testcancel(void) {
  int is_cancelled;
  __plait_atomic_begin();
  is_cancelled = __plait_is_cancelled();
  __plait_atomic_end();
  if (is_cancelled) __plait_end_cancelled();
}

/* In functions that POSIX allows to be cancellation points. */
void __plait_possible_cancellation_point(void) {
  int is_cancelled;
  __plait_atomic_begin();
  is_cancelled = __plait_is_cancelled();
  __plait_atomic_end();
  if (is_cancelled && __plait_choose("whether this is a cancellation point", 2))
    __plait_end_cancelled();
}
#else
/* Where the text of the program does not show it, cancellation points are not there. */
int pthread_cancel(unsigned long thread) {
  __plait_unsupported("pthread_cancel that none of the source files names");
  return 0;
}
void pthread_testcancel(void) {}
#endif
