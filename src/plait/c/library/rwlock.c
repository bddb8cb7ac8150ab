/* POSIX read-write locks and spin locks.
 *
 * A reader gets the lock whenever no writer holds it (glibc's default, which prefers readers).
 */
#include "plait.h"

struct __plait_rwlock {
  int readers; /* -1: destroyed, only where misuse is checked */
  int writer;
#ifdef __LP64__
  char unused[40];
  unsigned int flags; /* glibc's place for what its static initialisers prefer */
#else
  char unused[16];
  unsigned char flags;
#endif
};

#define MISUSE(condition, message) __plait_check("lock-misuse", condition, message)

int pthread_rwlock_init(struct __plait_rwlock *lock, const void *attributes) {
  __plait_atomic_begin();
  PLAIT_TOUCH_OPTIONAL(attributes);
  lock->readers = 0;
  lock->writer = 0;
  lock->flags = 0;
  __plait_atomic_end();
  return 0;
}

/* Undefined while the lock is held. */
int pthread_rwlock_destroy(struct __plait_rwlock *lock) {
  __plait_atomic_begin();
  PLAIT_TOUCH_MEMBER(lock->writer);
#if PLAIT_CHECK_LOCKS
  MISUSE(lock->readers != -1, "destroy of a destroyed read-write lock");
  MISUSE(lock->readers == 0 && lock->writer == 0, "destroy of a read-write lock that is held");
  lock->readers = -1;
#endif
  __plait_atomic_end();
  return 0;
}

/* Blocks while a writer holds the lock; EDEADLK if that is the thread itself. */
int pthread_rwlock_rdlock(struct __plait_rwlock *lock) {
  int self = __plait_self();
  int writer;
  __plait_atomic_begin();
  writer = lock->writer;
  PLAIT_ACQUIRE(); /* what writers have released; readers go on with what readers have */
#if PLAIT_CHECK_LOCKS
  MISUSE(lock->readers != -1, "lock of a destroyed read-write lock");
#endif
  if (writer == self) {
    __plait_atomic_end();
    return EDEADLK;
  }
  if (lock->flags == 2) __plait_unsupported("read-write locks that prefer writers");
  __plait_wait(writer == 0, "read-write lock", lock);
  lock->readers = lock->readers + 1;
  __plait_atomic_end();
  return 0;
}

/* Blocks while any thread holds the lock; EDEADLK if the thread itself holds it to write. */
int pthread_rwlock_wrlock(struct __plait_rwlock *lock) {
  int self = __plait_self();
  int writer;
  __plait_atomic_begin();
  writer = lock->writer;
#if PLAIT_CHECK_LOCKS
  MISUSE(lock->readers != -1, "lock of a destroyed read-write lock");
#endif
  if (writer == self) {
    __plait_atomic_end();
    return EDEADLK;
  }
  __plait_wait((writer | lock->readers) == 0, "read-write lock", lock);
  PLAIT_ACQUIRE();
  lock->writer = self;
  __plait_atomic_end();
  return 0;
}

static int __plait_try_read(struct __plait_rwlock *lock, int busy) {
  int result = 0;
  __plait_atomic_begin();
#if PLAIT_C11
  int writer = lock->writer;
  if (PLAIT_LOOKS_BACK(writer == 0)) {
    __plait_looks_back();
    __plait_atomic_end();
    return busy;
  }
  if (writer == 0) PLAIT_ACQUIRE(); /* before the readers are looked at */
#endif
#if PLAIT_CHECK_LOCKS
  MISUSE(lock->readers != -1, "lock of a destroyed read-write lock");
#endif
  if (lock->writer == 0)
    lock->readers = lock->readers + 1;
  else
    result = busy;
  __plait_atomic_end();
  return result;
}

static int __plait_try_write(struct __plait_rwlock *lock, int busy) {
  int self = __plait_self();
  int result = 0;
  __plait_atomic_begin();
#if PLAIT_CHECK_LOCKS
  MISUSE(lock->readers != -1, "lock of a destroyed read-write lock");
#endif
#if PLAIT_C11
  int taken = lock->writer | lock->readers;
  if (PLAIT_LOOKS_BACK(taken == 0)) {
    __plait_looks_back();
    __plait_atomic_end();
    return busy;
  }
  if (taken == 0) PLAIT_ACQUIRE();
#endif
  if (lock->writer == 0 && lock->readers == 0)
    lock->writer = self;
  else
    result = busy;
  __plait_atomic_end();
  return result;
}

/* EBUSY exactly where the lock could not be had at once. */
int pthread_rwlock_tryrdlock(struct __plait_rwlock *lock) { return __plait_try_read(lock, EBUSY); }
int pthread_rwlock_trywrlock(struct __plait_rwlock *lock) { return __plait_try_write(lock, EBUSY); }

static int __plait_writes(struct __plait_rwlock *lock) {
  int self = __plait_self();
  int writes;
  __plait_atomic_begin();
  writes = lock->writer == self;
  __plait_atomic_end();
  return writes;
}

/* The time-out can pass at any moment while the lock is held. */
int pthread_rwlock_timedrdlock(struct __plait_rwlock *lock, const struct timespec *deadline) {
  return __plait_writes(lock) ? EDEADLK : __plait_try_read(lock, ETIMEDOUT);
}
int pthread_rwlock_timedwrlock(struct __plait_rwlock *lock, const struct timespec *deadline) {
  return __plait_writes(lock) ? EDEADLK : __plait_try_write(lock, ETIMEDOUT);
}
int pthread_rwlock_clockrdlock(struct __plait_rwlock *lock, int clock,
                               const struct timespec *deadline) {
  return pthread_rwlock_timedrdlock(lock, deadline);
}
int pthread_rwlock_clockwrlock(struct __plait_rwlock *lock, int clock,
                               const struct timespec *deadline) {
  return pthread_rwlock_timedwrlock(lock, deadline);
}

/* Releases a writer's hold, or one reader's. */
int pthread_rwlock_unlock(struct __plait_rwlock *lock) {
#if PLAIT_CHECK_LOCKS
  int self = __plait_self();
#endif
  __plait_atomic_begin();
#if PLAIT_CHECK_LOCKS
  MISUSE(lock->readers != -1, "unlock of a destroyed read-write lock");
  MISUSE(lock->writer == 0 || lock->writer == self,
         "unlock of a read-write lock that another thread holds");
  MISUSE(lock->writer == self || lock->readers > 0,
         "unlock of a read-write lock that is not locked");
#endif
  PLAIT_RELEASE();
  if (lock->writer != 0)
    lock->writer = 0;
  else
    lock->readers = lock->readers - 1;
  __plait_atomic_end();
  return 0;
}

int pthread_rwlockattr_init(int *attributes) {
  *attributes = 0;
  return 0;
}
int pthread_rwlockattr_destroy(int *attributes) {
  PLAIT_TOUCH(attributes);
  return 0;
}
int pthread_rwlockattr_setpshared(int *attributes, int shared) {
  PLAIT_TOUCH(attributes);
  return 0;
}
/* glibc treats "prefer writer" like its default; "nonrecursive" makes readers wait for writers
   that wait, and so has deadlocks that are not modelled. */
int pthread_rwlockattr_setkind_np(int *attributes, int kind) {
  if (kind < 0 || kind > 2) return EINVAL;
  if (kind == 2) __plait_unsupported("read-write locks that prefer writers");
  *attributes = kind;
  return 0;
}
int pthread_rwlockattr_getkind_np(const int *attributes, int *kind) {
  *kind = *attributes;
  return 0;
}

/* Spin locks: a thread that spins is blocked; the int holds the owner. */
int pthread_spin_init(volatile int *lock, int shared) {
  __plait_atomic_begin();
  *lock = 0;
  __plait_atomic_end();
  return 0;
}

int pthread_spin_destroy(volatile int *lock) {
  __plait_atomic_begin();
  PLAIT_TOUCH_MEMBER(*lock);
#if PLAIT_CHECK_LOCKS
  MISUSE(*lock != -1, "destroy of a destroyed spin lock");
  MISUSE(*lock == 0, "destroy of a locked spin lock");
  *lock = -1;
#endif
  __plait_atomic_end();
  return 0;
}

int pthread_spin_lock(volatile int *lock) {
  int self = __plait_self();
  __plait_atomic_begin();
#if PLAIT_CHECK_LOCKS
  MISUSE(*lock != -1, "lock of a destroyed spin lock");
  MISUSE(*lock != self, "lock of a spin lock that the thread holds already");
#endif
  __plait_wait(*lock == 0, "spin lock", lock);
  PLAIT_ACQUIRE();
  *lock = self;
  PLAIT_LOCKED((void *)lock);
  __plait_atomic_end();
  return 0;
}

/* EBUSY exactly when the lock is held. */
int pthread_spin_trylock(volatile int *lock) {
  int self = __plait_self();
  int result = EBUSY;
  __plait_atomic_begin();
#if PLAIT_CHECK_LOCKS
  MISUSE(*lock != -1, "lock of a destroyed spin lock");
#endif
#if PLAIT_C11
  int is_free = *lock == 0;
  if (PLAIT_LOOKS_BACK(is_free)) {
    __plait_looks_back();
    __plait_atomic_end();
    return EBUSY;
  }
  if (is_free) PLAIT_ACQUIRE();
#endif
  if (*lock == 0) {
    *lock = self;
    result = 0;
    PLAIT_LOCKED((void *)lock);
  }
  __plait_atomic_end();
  return result;
}

int pthread_spin_unlock(volatile int *lock) {
#if PLAIT_CHECK_LOCKS
  int self = __plait_self();
#endif
  __plait_atomic_begin();
#if PLAIT_CHECK_LOCKS
  MISUSE(*lock == self, "unlock of a spin lock that the thread does not hold");
#endif
  PLAIT_UNLOCKED((void *)lock);
  PLAIT_RELEASE();
  *lock = 0;
  __plait_atomic_end();
  return 0;
}
