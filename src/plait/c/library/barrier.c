/* POSIX barriers and pthread_once. */
#include "plait.h"

struct __plait_barrier {
  unsigned long long waiting; /* bit n-1: thread n waits in the present round */
  unsigned long long serial;  /* bit n-1: thread n will return PTHREAD_BARRIER_SERIAL_THREAD */
  unsigned char needed;       /* 0: destroyed */
  unsigned char arrived;      /* of the present round */
  unsigned char leaving;      /* released, but not back from the call */
};

#define PTHREAD_BARRIER_SERIAL_THREAD (-1)
#define MISUSE(condition, message) __plait_check("lock-misuse", condition, message)

/* EINVAL for a count of 0. */
int pthread_barrier_init(struct __plait_barrier *barrier, const void *attributes,
                         unsigned int count) {
  if (count == 0) return EINVAL;
  if (count > 64) __plait_unsupported("a barrier for more than 64 threads");
  __plait_atomic_begin();
  PLAIT_TOUCH_OPTIONAL(attributes);
  barrier->waiting = 0;
  barrier->serial = 0;
  barrier->needed = (unsigned char)count;
  barrier->arrived = 0;
  barrier->leaving = 0;
  __plait_atomic_end();
  return 0;
}

/* Undefined while threads wait; one that was released need not have returned yet. As in glibc the
   call waits for those, so that the memory can be used for something else then. */
int pthread_barrier_destroy(struct __plait_barrier *barrier) {
  __plait_atomic_begin();
#if PLAIT_CHECK_LOCKS
  MISUSE(barrier->needed != 0, "destroy of a barrier that is not initialised");
  MISUSE(barrier->arrived == 0, "destroy of a barrier that threads wait on");
#endif
  __plait_wait(barrier->leaving == 0, "threads to leave the barrier", barrier);
  PLAIT_ACQUIRE();
#if PLAIT_CHECK_LOCKS
  barrier->needed = 0;
#endif
  __plait_atomic_end();
  return 0;
}

/* Blocks until as many threads as needed have called it, then the barrier is as new. One of
   them, any, gets PTHREAD_BARRIER_SERIAL_THREAD. Threads that are released are told by their own
   bit, so it does not matter how far later rounds have got when they run. */
int pthread_barrier_wait(struct __plait_barrier *barrier) {
  int self = __plait_self();
  int result = 0;
  int skipped;
  unsigned long long own;
  unsigned long long rest;
  if (self > 64) __plait_unsupported("a thread beyond the 64th waits on a barrier");
  own = 1ULL << (self - 1);
  __plait_atomic_begin();
#if PLAIT_CHECK_LOCKS
  MISUSE(barrier->needed != 0, "wait on a barrier that is not initialised");
#endif
  rest = barrier->waiting | own;
  PLAIT_RELEASE();
  if (barrier->arrived + 1 < barrier->needed) {
    barrier->arrived = (unsigned char)(barrier->arrived + 1);
    barrier->waiting = rest;
    __plait_atomic_end();
    __plait_atomic_begin();
    __plait_wait((barrier->waiting & own) == 0, "barrier", barrier);
    PLAIT_ACQUIRE(); /* of later rounds, too; but the thread can leave before there are any */
    PLAIT_RELEASE();
    barrier->leaving = (unsigned char)(barrier->leaving - 1);
  } else {
    skipped = __plait_choose("serial thread of the barrier", barrier->needed);
    while (skipped > 0) {
      rest = rest & (rest - 1);
      skipped = skipped - 1;
    }
    PLAIT_ACQUIRE();
    barrier->serial = barrier->serial | (rest & (~rest + 1));
    barrier->leaving = (unsigned char)(barrier->leaving + barrier->arrived);
    barrier->arrived = 0;
    barrier->waiting = 0;
  }
  if ((barrier->serial & own) != 0) {
    barrier->serial = barrier->serial & ~own;
    result = PTHREAD_BARRIER_SERIAL_THREAD;
  }
  __plait_atomic_end();
  return result;
}

int pthread_barrierattr_init(int *attributes) {
  *attributes = 0;
  return 0;
}
int pthread_barrierattr_destroy(int *attributes) {
  PLAIT_TOUCH(attributes);
  return 0;
}
int pthread_barrierattr_setpshared(int *attributes, int shared) {
  PLAIT_TOUCH(attributes);
  return 0;
}

/* The first caller runs the routine, and nobody returns before it has returned. */
int pthread_once(int *once, void (*routine)(void)) {
  int done;
  __plait_atomic_begin();
  __plait_wait(*once != 1, "pthread_once", once);
  done = *once;
  PLAIT_ACQUIRE();
  if (!done) *once = 1;
  __plait_atomic_end();
  if (!done) {
    routine();
    __plait_atomic_begin();
    PLAIT_RELEASE();
    *once = 2;
    __plait_atomic_end();
  }
  return 0;
}
