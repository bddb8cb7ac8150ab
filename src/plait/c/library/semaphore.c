/* POSIX unnamed semaphores. */
#include "plait.h"

#define SEM_VALUE_MAX 2147483647u
#define MISUSE(condition, message) __plait_check("lock-misuse", condition, message)

struct __plait_semaphore {
  unsigned int value;
  int destroyed; /* only where misuse is checked */
#if PLAIT_C11
  unsigned int before; /* the value before the last change */
#endif
};

#if PLAIT_C11
#define CHANGE(semaphore, old, new) ((semaphore)->before = (old), (semaphore)->value = (new))
#else
#define CHANGE(semaphore, old, new) ((semaphore)->value = (new))
#endif

/* EINVAL for a value beyond SEM_VALUE_MAX. */
int sem_init(struct __plait_semaphore *semaphore, int shared, unsigned int value) {
  if (value > SEM_VALUE_MAX) {
    *__errno_location() = EINVAL;
    return -1;
  }
  __plait_atomic_begin();
  CHANGE(semaphore, value, value);
#if PLAIT_CHECK_LOCKS
  semaphore->destroyed = 0;
#endif
  __plait_atomic_end();
  return 0;
}

int sem_destroy(struct __plait_semaphore *semaphore) {
  __plait_atomic_begin();
  PLAIT_TOUCH_MEMBER(semaphore->destroyed);
#if PLAIT_CHECK_LOCKS
  MISUSE(!semaphore->destroyed, "destroy of a destroyed semaphore");
  semaphore->destroyed = 1;
#endif
  __plait_atomic_end();
  return 0;
}

/* Blocks while the value is 0, then takes 1 from it. */
int sem_wait(struct __plait_semaphore *semaphore) {
  unsigned int value;
  __plait_atomic_begin();
#if PLAIT_CHECK_LOCKS
  MISUSE(!semaphore->destroyed, "wait on a destroyed semaphore");
#endif
  value = semaphore->value;
#if PLAIT_CANCEL
  int is_cancelled = __plait_is_cancelled();
  __plait_wait(value > 0 || is_cancelled, "semaphore", semaphore);
  if (is_cancelled && (value == 0 || __plait_choose("whether sem_wait is cancelled", 2))) {
    __plait_atomic_end();
    __plait_end_cancelled();
  }
#else
  __plait_wait(value > 0, "semaphore", semaphore);
#endif
  PLAIT_ACQUIRE();
  CHANGE(semaphore, value, value - 1);
  __plait_atomic_end();
  return 0;
}

/* Takes 1 if it can at once, else -1 with errno `busy`. */
static int __plait_try_down(struct __plait_semaphore *semaphore, int busy) {
  unsigned int value;
  __plait_atomic_begin();
#if PLAIT_CHECK_LOCKS
  MISUSE(!semaphore->destroyed, "wait on a destroyed semaphore");
#endif
  value = semaphore->value;
#if PLAIT_C11
  if (PLAIT_LOOKS_BACK(value > 0)) {
    if (value == 1 && semaphore->before == 0)
      __plait_looks_back();
    else
      __plait_looks_far_back();
    __plait_atomic_end();
    *__errno_location() = busy;
    return -1;
  }
  if (value > 0) PLAIT_ACQUIRE();
#endif
  if (value > 0) CHANGE(semaphore, value, value - 1);
  __plait_atomic_end();
  if (value > 0) return 0;
  *__errno_location() = busy;
  return -1;
}

int sem_trywait(struct __plait_semaphore *semaphore) { return __plait_try_down(semaphore, EAGAIN); }

/* The time-out can pass at any moment while the value is 0. */
int sem_timedwait(struct __plait_semaphore *semaphore, const struct timespec *deadline) {
  return __plait_try_down(semaphore, ETIMEDOUT);
}
int sem_clockwait(struct __plait_semaphore *semaphore, int clock,
                  const struct timespec *deadline) {
  return __plait_try_down(semaphore, ETIMEDOUT);
}

/* EOVERFLOW where the value is SEM_VALUE_MAX already. */
int sem_post(struct __plait_semaphore *semaphore) {
  unsigned int value;
  __plait_atomic_begin();
#if PLAIT_CHECK_LOCKS
  MISUSE(!semaphore->destroyed, "post to a destroyed semaphore");
#endif
  value = semaphore->value;
  PLAIT_RELEASE();
  if (value < SEM_VALUE_MAX) CHANGE(semaphore, value, value + 1);
  __plait_atomic_end();
  if (value < SEM_VALUE_MAX) return 0;
  *__errno_location() = EOVERFLOW;
  return -1;
}

/* Where threads wait the value is 0, as in Linux. */
int sem_getvalue(struct __plait_semaphore *semaphore, int *value) {
  unsigned int now;
#if PLAIT_C11
  __plait_unsupported("sem_getvalue under the memory model c11: it may see an earlier value");
#endif
  __plait_atomic_begin();
  now = semaphore->value;
  __plait_atomic_end();
  *value = (int)now;
  return 0;
}
