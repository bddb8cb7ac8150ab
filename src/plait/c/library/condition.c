/* POSIX condition variables.
 *
 * With PLAIT_SPURIOUS_WAKEUPS a waiting thread may go on at any moment, so a wait is no more than
 * to unlock and lock the mutex, and a signal does nothing that could be seen. A thread that may
 * wake up by itself is never blocked for ever: the search for deadlocks switches them off. Then
 * the condition variable holds the set of waiting threads; a signal takes one of them out, a
 * broadcast all, and a thread goes on when it is out.
 */
#include "plait.h"

struct __plait_condition {
  unsigned long long waiting; /* bit n-1: thread n waits */
  struct __plait_mutex *mutex; /* of the waiting threads; only where misuse is checked */
  int destroyed;               /* only where misuse is checked */
};

#define MISUSE(condition, message) __plait_check("lock-misuse", condition, message)

int pthread_cond_init(struct __plait_condition *condition, const int *attributes) {
  __plait_atomic_begin();
  condition->waiting = 0;
#if PLAIT_CHECK_LOCKS
  condition->mutex = NULL;
  condition->destroyed = 0;
#endif
  __plait_atomic_end();
  return 0;
}

/* Undefined while threads wait: glibc would block. */
int pthread_cond_destroy(struct __plait_condition *condition) {
#if PLAIT_CHECK_LOCKS
  __plait_atomic_begin();
  MISUSE(!condition->destroyed, "destroy of a destroyed condition variable");
  MISUSE(condition->waiting == 0, "destroy of a condition variable that threads wait on");
  condition->destroyed = 1;
  __plait_atomic_end();
#endif
  return 0;
}

static unsigned long long __plait_own_bit(void) {
  int self = __plait_self();
  if (self > 64) __plait_unsupported("a thread beyond the 64th waits on a condition variable");
  return 1ULL << (self - 1);
}

/* In one step: unlock the mutex and begin to wait. */
static int __plait_begin_wait(struct __plait_condition *condition, struct __plait_mutex *mutex) {
  int result;
#if PLAIT_SPURIOUS_WAKEUPS && !PLAIT_CHECK_LOCKS
  result = pthread_mutex_unlock(mutex);
#else
  unsigned long long own = __plait_own_bit();
  __plait_atomic_begin();
#if PLAIT_CHECK_LOCKS
  MISUSE(!condition->destroyed, "wait on a destroyed condition variable");
  MISUSE(condition->waiting == 0 || condition->mutex == mutex,
         "threads wait on one condition variable with different mutexes");
  MISUSE(mutex->owner == __plait_self(), "wait with a mutex that the thread does not hold");
  condition->mutex = mutex;
#endif
  result = pthread_mutex_unlock(mutex);
  if (result == 0) condition->waiting = condition->waiting | own;
  __plait_atomic_end();
#endif
  return result;
}

/* Releases the mutex and waits as one step, and holds the mutex again when it returns. */
int pthread_cond_wait(struct __plait_condition *condition, struct __plait_mutex *mutex) {
  int result = __plait_begin_wait(condition, mutex);
  if (result != 0) return result;
#if !PLAIT_SPURIOUS_WAKEUPS
  unsigned long long own = __plait_own_bit();
  __plait_atomic_begin();
  __plait_wait((condition->waiting & own) == 0, "condition variable", condition);
  __plait_atomic_end();
#elif PLAIT_CHECK_LOCKS
  unsigned long long own = __plait_own_bit();
  __plait_atomic_begin();
  condition->waiting = condition->waiting & ~own;
  __plait_atomic_end();
#endif
  return pthread_mutex_lock(mutex);
}

/* As pthread_cond_wait, but the time-out can pass at any moment before a signal. */
int pthread_cond_timedwait(struct __plait_condition *condition, struct __plait_mutex *mutex,
                           const struct timespec *deadline) {
  int result = __plait_begin_wait(condition, mutex);
  int timed_out;
  if (result != 0) return result;
#if PLAIT_SPURIOUS_WAKEUPS && !PLAIT_CHECK_LOCKS
  timed_out = __plait_choose("time-out of pthread_cond_timedwait", 2);
#else
  unsigned long long own = __plait_own_bit();
  __plait_atomic_begin();
  timed_out = (condition->waiting & own) != 0;
  condition->waiting = condition->waiting & ~own;
  __plait_atomic_end();
#endif
  result = pthread_mutex_lock(mutex);
  return timed_out && result == 0 ? ETIMEDOUT : result;
}
int pthread_cond_clockwait(struct __plait_condition *condition, struct __plait_mutex *mutex,
                           int clock, const struct timespec *deadline) {
  return pthread_cond_timedwait(condition, mutex, deadline);
}

/* Wakes one of the waiting threads, any of them; without one it is lost. */
int pthread_cond_signal(struct __plait_condition *condition) {
#if !PLAIT_SPURIOUS_WAKEUPS || PLAIT_CHECK_LOCKS
  unsigned long long waiting;
  unsigned long long rest;
  int count = 0;
  int skipped;
  __plait_atomic_begin();
#if PLAIT_CHECK_LOCKS
  MISUSE(!condition->destroyed, "signal of a destroyed condition variable");
#endif
  waiting = condition->waiting;
  if (waiting != 0) {
    for (rest = waiting; rest != 0; rest = rest & (rest - 1)) count = count + 1;
    skipped = __plait_choose("signalled thread", count);
    for (rest = waiting; skipped > 0; skipped = skipped - 1) rest = rest & (rest - 1);
    condition->waiting = waiting & ~(rest & (~rest + 1));
  }
  __plait_atomic_end();
#endif
  return 0;
}

/* Wakes all waiting threads. */
int pthread_cond_broadcast(struct __plait_condition *condition) {
#if !PLAIT_SPURIOUS_WAKEUPS || PLAIT_CHECK_LOCKS
  __plait_atomic_begin();
#if PLAIT_CHECK_LOCKS
  MISUSE(!condition->destroyed, "broadcast of a destroyed condition variable");
#endif
  condition->waiting = 0;
  __plait_atomic_end();
#endif
  return 0;
}

int pthread_condattr_init(int *attributes) {
  *attributes = 0;
  return 0;
}
int pthread_condattr_destroy(int *attributes) { return 0; }
int pthread_condattr_setpshared(int *attributes, int shared) { return 0; }
int pthread_condattr_setclock(int *attributes, int clock) {
  *attributes = clock;
  return 0;
}
int pthread_condattr_getclock(const int *attributes, int *clock) {
  *clock = *attributes;
  return 0;
}
