/* POSIX condition variables.
 *
 * With PLAIT_SPURIOUS_WAKEUPS a waiting thread may go on at any moment, so a wait is no more than
 * to unlock and lock the mutex, and a signal does nothing that could be seen. A thread that may
 * wake up by itself is never blocked for ever: the search for deadlocks switches them off. Then
 * the condition variable holds the set of waiting threads; a signal takes one of them out, a
 * broadcast all, and a thread goes on when it is out. To destroy a condition variable is allowed as
 * soon as all are out, so that waits for them to go on, as in glibc.
 *
 * Under C11 the mutex synchronises, and the condition variable does not (C 7.26.3 says nothing of the
 * kind). A signal and a wait are in some order, which happens-before alone restricts; so what wakes
 * up has a meaning only if a thread may wake up at any moment.
 */
#include "plait.h"

struct __plait_condition {
  unsigned long long waiting; /* bit n-1: thread n waits */
  struct __plait_mutex *mutex; /* of the waiting threads; only where misuse is checked */
  int leaving;                 /* threads that were woken and have not noticed yet */
  int destroyed;               /* only where misuse is checked */
};

/* Whether `waiting` and `leaving` are kept. Misuse can be checked without: then the mutex of the first
   wait is never forgotten, and a wait with another one, which may be allowed, has no verdict. */
#define PLAIT_WAITERS (!PLAIT_SPURIOUS_WAKEUPS || PLAIT_CHECK_WAITS)

#define MISUSE(condition, message) __plait_check("lock-misuse", condition, message)

int pthread_cond_init(struct __plait_condition *condition, const int *attributes) {
  __plait_atomic_begin();
  PLAIT_TOUCH_OPTIONAL(attributes);
  condition->waiting = 0;
  condition->leaving = 0;
#if PLAIT_CHECK_LOCKS
  condition->mutex = NULL;
  condition->destroyed = 0;
#endif
  __plait_atomic_end();
  return 0;
}

/* Undefined while threads wait: glibc would block. */
int pthread_cond_destroy(struct __plait_condition *condition) {
  __plait_atomic_begin();
  PLAIT_TOUCH_MEMBER(condition->waiting);
#if PLAIT_CHECK_LOCKS && !PLAIT_WAITERS
  __plait_unsupported("pthread_cond_destroy of a condition variable whose waits are not counted");
#elif PLAIT_CHECK_LOCKS
  MISUSE(!condition->destroyed, "destroy of a destroyed condition variable");
  MISUSE(condition->waiting == 0, "destroy of a condition variable that threads wait on");
  condition->destroyed = 1;
#endif
#if PLAIT_WAITERS
  __plait_wait(condition->leaving == 0, "threads to leave the condition variable", condition);
  PLAIT_ACQUIRE();
#endif
  __plait_atomic_end();
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
#if !PLAIT_WAITERS
  __plait_atomic_begin();
#if PLAIT_CHECK_LOCKS
  if (condition->mutex == NULL)
    condition->mutex = mutex;
  else if (condition->mutex != mutex)
    __plait_unsupported("waits on a condition variable with different mutexes: see lock-misuse");
  MISUSE(mutex->owner == __plait_self(), "wait with a mutex that the thread does not hold");
#else
  PLAIT_TOUCH_MEMBER(condition->waiting);
#endif
  result = pthread_mutex_unlock(mutex);
  __plait_atomic_end();
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

#if PLAIT_WAITERS
/* Where nobody waits any mutex will do, and this one need not stay reachable. */
static void __plait_forget_mutex(struct __plait_condition *condition) {
#if PLAIT_CHECK_LOCKS
  if (condition->waiting == 0) condition->mutex = NULL;
#endif
}

/* The thread goes on; whether it had been woken. */
static int __plait_end_wait(struct __plait_condition *condition, unsigned long long own) {
  int woken = (condition->waiting & own) == 0;
  PLAIT_RELEASE(); /* to who destroys it */
  if (woken)
    condition->leaving = condition->leaving - 1;
  else
    condition->waiting = condition->waiting & ~own;
  __plait_forget_mutex(condition);
  return woken;
}

/* These threads are woken. */
static void __plait_wake(struct __plait_condition *condition, unsigned long long woken) {
  condition->waiting = condition->waiting & ~woken;
  for (; woken != 0; woken = woken & (woken - 1)) condition->leaving = condition->leaving + 1;
  __plait_forget_mutex(condition);
}
#endif

#if PLAIT_CANCEL
static int __plait_is_cancelled_now(void) {
  int is_cancelled;
  __plait_atomic_begin();
  is_cancelled = __plait_is_cancelled();
  __plait_atomic_end();
  return is_cancelled;
}

/* A thread that ends its wait, `woken` or not, and had been cancelled before (or only now, while it
   waited): whether it acts upon that. It does not where it was woken and another thread could have
   been instead. */
static int __plait_acts(struct __plait_condition *condition, int before, int woken) {
#if PLAIT_WAITERS
  if (woken)
    return condition->waiting == 0 && __plait_is_cancelled() &&
           __plait_choose("whether a wait is cancelled", 2);
#endif
  return before || (__plait_is_cancelled() && __plait_choose("whether a wait is cancelled", 2));
}
#endif

/* Releases the mutex and waits as one step, and holds the mutex again when it returns, or when the
   thread ends because it was cancelled. */
int pthread_cond_wait(struct __plait_condition *condition, struct __plait_mutex *mutex) {
  int result;
#if PLAIT_CANCEL
  int is_cancelled = __plait_is_cancelled_now();
  int acts;
#endif
  result = __plait_begin_wait(condition, mutex);
  if (result != 0) return result;
#if PLAIT_C11 && !PLAIT_SPURIOUS_WAKEUPS
  __plait_unsupported("condition variables without spurious wake-ups, under the memory model c11");
#endif
#if !PLAIT_SPURIOUS_WAKEUPS
  unsigned long long own = __plait_own_bit();
  __plait_atomic_begin();
#if PLAIT_CANCEL
  int woken = (condition->waiting & own) == 0;
  is_cancelled = __plait_is_cancelled();
  __plait_wait(woken || is_cancelled, "condition variable", condition);
  __plait_end_wait(condition, own);
  acts = __plait_acts(condition, is_cancelled, woken);
#else
  __plait_wait((condition->waiting & own) == 0, "condition variable", condition);
  __plait_end_wait(condition, own);
#endif
  __plait_atomic_end();
#elif PLAIT_WAITERS
  unsigned long long own = __plait_own_bit();
  __plait_atomic_begin();
#if PLAIT_CANCEL
  int woken = __plait_end_wait(condition, own);
  acts = __plait_acts(condition, is_cancelled, woken);
#else
  __plait_end_wait(condition, own);
#endif
  __plait_atomic_end();
#elif PLAIT_CANCEL
  __plait_atomic_begin();
  acts = __plait_acts(condition, is_cancelled, 0);
  __plait_atomic_end();
#endif
  result = pthread_mutex_lock(mutex);
#if PLAIT_CANCEL
  if (acts) __plait_end_cancelled();
#endif
  return result;
}

/* As pthread_cond_wait, but the time-out can pass at any moment before a signal. */
int pthread_cond_timedwait(struct __plait_condition *condition, struct __plait_mutex *mutex,
                           const struct timespec *deadline) {
  int result;
  int timed_out;
#if PLAIT_CANCEL
  int is_cancelled = __plait_is_cancelled_now();
  int acts;
#endif
#if PLAIT_C11
  PLAIT_TOUCH_MEMBER(deadline->tv_sec); /* the program's memory, and so in no section */
  __plait_atomic_begin();
#else
  __plait_atomic_begin();
  PLAIT_TOUCH(deadline);
#endif
  result = __plait_begin_wait(condition, mutex);
  __plait_atomic_end();
  if (result != 0) return result;
#if !PLAIT_WAITERS
  timed_out = __plait_choose("time-out of pthread_cond_timedwait", 2);
#if PLAIT_CANCEL
  __plait_atomic_begin();
  acts = __plait_acts(condition, is_cancelled, 0);
  __plait_atomic_end();
#endif
#else
  unsigned long long own = __plait_own_bit();
  __plait_atomic_begin();
  timed_out = !__plait_end_wait(condition, own);
#if PLAIT_C11
  timed_out = __plait_choose("time-out of pthread_cond_timedwait", 2); /* in which order with signals */
#endif
#if PLAIT_CANCEL
  acts = __plait_acts(condition, is_cancelled, !timed_out);
#endif
  __plait_atomic_end();
#endif
  result = pthread_mutex_lock(mutex);
#if PLAIT_CANCEL
  if (acts) __plait_end_cancelled();
#endif
  return timed_out && result == 0 ? ETIMEDOUT : result;
}
int pthread_cond_clockwait(struct __plait_condition *condition, struct __plait_mutex *mutex,
                           int clock, const struct timespec *deadline) {
  return pthread_cond_timedwait(condition, mutex, deadline);
}

/* Wakes one of the waiting threads, any of them; without one it is lost. */
int pthread_cond_signal(struct __plait_condition *condition) {
#if PLAIT_WAITERS
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
    __plait_wake(condition, rest & (~rest + 1));
  }
  __plait_atomic_end();
#else
  __plait_atomic_begin();
  PLAIT_TOUCH_MEMBER(condition->waiting);
  __plait_atomic_end();
#endif
  return 0;
}

/* Wakes all waiting threads. */
int pthread_cond_broadcast(struct __plait_condition *condition) {
  __plait_atomic_begin();
  PLAIT_TOUCH_MEMBER(condition->waiting);
#if PLAIT_CHECK_LOCKS && PLAIT_WAITERS
  MISUSE(!condition->destroyed, "broadcast of a destroyed condition variable");
#endif
#if PLAIT_WAITERS
  __plait_wake(condition, condition->waiting);
#endif
  __plait_atomic_end();
  return 0;
}

int pthread_condattr_init(int *attributes) {
  *attributes = 0;
  return 0;
}
int pthread_condattr_destroy(int *attributes) {
  PLAIT_TOUCH(attributes);
  return 0;
}
int pthread_condattr_setpshared(int *attributes, int shared) {
  PLAIT_TOUCH(attributes);
  return 0;
}
int pthread_condattr_setclock(int *attributes, int clock) {
  *attributes = clock;
  return 0;
}
int pthread_condattr_getclock(const int *attributes, int *clock) {
  *clock = *attributes;
  return 0;
}
