/* POSIX mutexes. A normal mutex that its owner locks again blocks for ever. */
#include "plait.h"

#define MISUSE(condition, message) __plait_check("lock-misuse", condition, message)

/* What the mutex held before may be indeterminate, so that it was locked shows only when it is
   unlocked. */
int pthread_mutex_init(struct __plait_mutex *mutex, const int *attributes) {
  int kind = attributes == NULL ? PLAIT_NORMAL : *attributes & PLAIT_KINDS;
  __plait_atomic_begin();
  mutex->owner = 0;
  mutex->count = 0;
  mutex->kind = kind;
  __plait_atomic_end();
  return 0;
}

/* Undefined for a locked mutex; glibc answers EBUSY. */
int pthread_mutex_destroy(struct __plait_mutex *mutex) {
  int owner;
  __plait_atomic_begin();
  owner = mutex->owner;
#if PLAIT_CHECK_LOCKS
  MISUSE(owner != -1, "destroy of a destroyed mutex");
  MISUSE(owner <= 0, "destroy of a locked mutex");
  mutex->owner = -1;
#endif
  __plait_atomic_end();
  return owner > 0 ? EBUSY : 0;
}

/* Blocks while another thread holds the mutex. Its owner gets it again if it is recursive, and
   EDEADLK if it checks errors. */
int pthread_mutex_lock(struct __plait_mutex *mutex) {
  int self = __plait_self();
  int owner;
  int kind;
  __plait_atomic_begin();
  owner = mutex->owner;
#if PLAIT_CHECK_LOCKS
  MISUSE(owner != -1, "lock of a destroyed mutex");
#endif
  if (owner == self) {
    kind = mutex->kind & PLAIT_KINDS;
    if (kind == PLAIT_RECURSIVE) {
      mutex->count = mutex->count + 1;
      PLAIT_LOCKED(mutex);
      __plait_atomic_end();
      return 0;
    }
    if (kind == PLAIT_ERRORCHECK) {
      __plait_atomic_end();
      return EDEADLK;
    }
#if PLAIT_CHECK_LOCKS
    MISUSE(0, "lock of a mutex that the thread holds already");
#endif
  }
  __plait_wait(owner == 0, "mutex", mutex);
  PLAIT_ACQUIRE();
  mutex->owner = self;
  PLAIT_LOCKED(mutex);
  __plait_atomic_end();
  return 0;
}

/* `busy` is the answer where pthread_mutex_lock would block. */
static int __plait_try_lock(struct __plait_mutex *mutex, int busy) {
  int self = __plait_self();
  int result = 0;
  int owner;
  __plait_atomic_begin();
  owner = mutex->owner;
#if PLAIT_CHECK_LOCKS
  MISUSE(owner != -1, "lock of a destroyed mutex");
#endif
#if PLAIT_C11
  if (PLAIT_LOOKS_BACK(owner == 0)) {
    __plait_looks_back();
    __plait_atomic_end();
    return busy;
  }
  if (owner == 0) PLAIT_ACQUIRE();
#endif
  if (owner == 0)
    mutex->owner = self;
  else if (owner == self && (mutex->kind & PLAIT_KINDS) == PLAIT_RECURSIVE)
    mutex->count = mutex->count + 1;
  else
    result = busy;
#if PLAIT_WATCH_LOCK
  if (result == 0) PLAIT_LOCKED(mutex);
#endif
  __plait_atomic_end();
  return result;
}

/* EBUSY exactly when the mutex is held, except by the same thread if it is recursive. */
int pthread_mutex_trylock(struct __plait_mutex *mutex) { return __plait_try_lock(mutex, EBUSY); }

/* Takes a free mutex. Where it is held the time-out can pass at any moment before it is free,
   so waiting until then needs no behaviour of its own: it is the step taken later. */
int pthread_mutex_timedlock(struct __plait_mutex *mutex, const struct timespec *deadline) {
  int self = __plait_self();
  int again;
  __plait_atomic_begin();
  again = mutex->owner == self && (mutex->kind & PLAIT_KINDS) == PLAIT_ERRORCHECK;
  __plait_atomic_end();
  return again ? EDEADLK : __plait_try_lock(mutex, ETIMEDOUT);
}
int pthread_mutex_clocklock(struct __plait_mutex *mutex, int clock,
                            const struct timespec *deadline) {
  return pthread_mutex_timedlock(mutex, deadline);
}

/* EPERM for one who is not the owner if the mutex is recursive or checks errors. For a normal
   one that is undefined; as in glibc it is unlocked. */
int pthread_mutex_unlock(struct __plait_mutex *mutex) {
  int self = __plait_self();
  int kind;
  __plait_atomic_begin();
  kind = mutex->kind & PLAIT_KINDS;
#if PLAIT_CHECK_LOCKS
  int owner = mutex->owner; /* one look: most often all is well */
  if (owner != self) {
    MISUSE(owner != -1, "unlock of a destroyed mutex");
    if (kind != PLAIT_RECURSIVE && kind != PLAIT_ERRORCHECK) {
      MISUSE(owner != 0, "unlock of a mutex that is not locked");
      MISUSE(0, "unlock of a mutex that another thread holds");
    }
  }
#endif
  if (kind == PLAIT_RECURSIVE || kind == PLAIT_ERRORCHECK) {
    if (mutex->owner != self) {
      __plait_atomic_end();
      return EPERM;
    }
    if (mutex->count > 0) {
      PLAIT_UNLOCKED(mutex);
      mutex->count = mutex->count - 1;
      __plait_atomic_end();
      return 0;
    }
  }
  PLAIT_UNLOCKED(mutex);
  PLAIT_RELEASE();
  mutex->owner = 0;
  __plait_atomic_end();
  return 0;
}

/* Attributes: an int that holds the kind, as glibc's does. */
int pthread_mutexattr_init(int *attributes) {
  *attributes = PLAIT_NORMAL;
  return 0;
}
int pthread_mutexattr_destroy(int *attributes) {
  PLAIT_TOUCH(attributes);
  return 0;
}
int pthread_mutexattr_settype(int *attributes, int kind) {
  if (kind < PLAIT_NORMAL || kind > PLAIT_ADAPTIVE) return EINVAL;
  *attributes = kind;
  return 0;
}
int pthread_mutexattr_gettype(const int *attributes, int *kind) {
  *kind = *attributes & PLAIT_KINDS;
  return 0;
}
int pthread_mutexattr_setpshared(int *attributes, int shared) {
  PLAIT_TOUCH(attributes);
  return 0;
}
int pthread_mutexattr_setprotocol(int *attributes, int protocol) {
  PLAIT_TOUCH(attributes);
  return 0;
}
int pthread_mutexattr_setprioceiling(int *attributes, int ceiling) {
  PLAIT_TOUCH(attributes);
  return 0;
}
/* A robust mutex differs only where its owner ends without unlocking it. */
int pthread_mutexattr_setrobust(int *attributes, int robust) {
  if (robust) __plait_unsupported("robust mutexes");
  return 0;
}
