/* Threads, locks and the like, as plait models them (src/plait/c/library has the same in terms of
 * its model). State is kept here, by address: the program's objects are never touched, so that
 * their layout does not matter. */
#define _GNU_SOURCE
#include "runtime.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NORMAL, RECURSIVE, ERRORCHECK };
enum { WORDS = MOST_THREADS / 64 + 1, TABLE = 1 << 14, MOST_KEYS = 128 };

typedef uint64_t set[WORDS];

/* One for each address at which the program keeps a mutex, condition variable, ... */
struct object {
  const void *address;
  int owner; /* 0: free, else a thread's number */
  int count; /* holds beyond the first; value of a semaphore; progress of pthread_once */
  int kind;
  int readers;
  int is_destroyed;
  unsigned needed, arrived, leaving; /* of a barrier */
  set waiting, serial;
  const void *mutex; /* of the threads that wait on a condition variable */
};

static struct object objects[TABLE];
static void (*destructors[MOST_KEYS])(void *);
static int key_count;
static char is_deleted[MOST_KEYS];
static __thread void *values[MOST_KEYS];


static struct object *find(const void *address, int *is_new) {
  size_t at = ((uintptr_t)address >> 2) * 2654435761u % TABLE;
  for (size_t tried = 0; tried < TABLE; tried++, at = (at + 1) % TABLE) {
    if (objects[at].address == address) return &objects[at];
    if (objects[at].address == NULL) {
      objects[at].address = address;
      *is_new = 1;
      return &objects[at];
    }
  }
  outcome("limit", "more than %d locks and the like", TABLE);
}

static struct object *object_at(const void *address) {
  int is_new = 0;
  return find(address, &is_new);
}

static struct object *fresh(const void *address) {
  struct object *object = object_at(address);
  memset(object, 0, sizeof *object);
  object->address = address;
  return object;
}

/* A static initialiser says the kind at glibc's place; anything strange there is a normal one. */
static struct object *mutex_at(const void *address) {
  int is_new = 0;
  struct object *mutex = find(address, &is_new);
  if (is_new) {
    int kind = ((const int *)address)[sizeof(long) == 8 ? 4 : 3];
    mutex->kind = kind == RECURSIVE || kind == ERRORCHECK ? kind : NORMAL;
  }
  return mutex;
}

static void misuse(int is_fine, const void *pc, const char *what) {
  if (!is_fine && is_expected("lock-misuse")) failure("lock-misuse", pc, "%s", what);
}

/* What is numbered in the order of such calls depends on it. */
static void numbering_point(const char *name, const void *counter, const void *pc) {
  struct operation operation = {.kind = SYNC, .name = name, .size = 1, .is_atomic = 1, .pc = pc,
                                .waits_for = "", .other = counter};
  point(&operation);
}

static int me(void) { return myself()->number; }
static int has(const set numbers, int number) { return numbers[number / 64] >> number % 64 & 1; }
static void add(set numbers, int number) { numbers[number / 64] |= 1ULL << number % 64; }
static void drop(set numbers, int number) { numbers[number / 64] &= ~(1ULL << number % 64); }
static int size_of(const set numbers) {
  int count = 0;
  for (int i = 0; i < WORDS; i++) count += __builtin_popcountll(numbers[i]);
  return count;
}
static int member(const set numbers, uint64_t skipped) {
  for (int i = 1; i <= thread_count; i++)
    if (has(numbers, i) && skipped-- == 0) return i;
  return 0;
}

/* --- mutexes */


/* Who asks is the thread whose operation it is: the one that would go on. */
static int mutex_is_free_for(const struct operation *operation) {
  const struct object *mutex = object_at(operation->address);
  int asker = (int)(intptr_t)operation->more;
  return mutex->owner == 0 || (mutex->owner == asker && mutex->kind != NORMAL);
}

static int owner_of(const struct operation *operation) {
  return object_at(operation->address)->owner;
}

static int lock(const char *name, const void *address, const void *pc) {
  struct object *mutex = mutex_at(address);
  int self = me();
  misuse(!mutex->is_destroyed, pc, "lock of a destroyed mutex");
  misuse(mutex->owner != self || mutex->kind != NORMAL, pc,
         "lock of a mutex that the thread holds already");
  wait_for_thread(name, address, pc, mutex_is_free_for, "a mutex", (void *)(intptr_t)self, owner_of);
  misuse(!mutex->is_destroyed, pc, "lock of a destroyed mutex");
  if (mutex->owner == self) {
    if (mutex->kind == ERRORCHECK) return EDEADLK;
    mutex->count++;
    return 0;
  }
  mutex->owner = self;
  mutex->count = 0;
  order_after(address);
  return 0;
}

static int try_lock(const char *name, const void *address, int busy, const void *pc) {
  struct object *mutex = mutex_at(address);
  sync_point(name, address, pc);
  misuse(!mutex->is_destroyed, pc, "lock of a destroyed mutex");
  if (mutex->owner == me() && mutex->kind == RECURSIVE) {
    mutex->count++;
    return 0;
  }
  if (mutex->owner != 0)
    return busy == ETIMEDOUT && mutex->owner == me() && mutex->kind == ERRORCHECK ? EDEADLK : busy;
  mutex->owner = me();
  mutex->count = 0;
  order_after(address);
  return 0;
}

static int release(struct object *mutex, const void *pc) {
  misuse(!mutex->is_destroyed, pc, "unlock of a destroyed mutex");
  if (mutex->kind != NORMAL) {
    if (mutex->owner != me()) return EPERM;
    if (mutex->count > 0) {
      mutex->count--;
      return 0;
    }
  }
  misuse(mutex->owner != 0, pc, "unlock of a mutex that is not locked");
  misuse(mutex->owner == me(), pc, "unlock of a mutex that another thread holds");
  mutex->owner = 0;
  order_before(mutex->address);
  return 0;
}

static int unlock(const char *name, const void *address, const void *pc) {
  struct object *mutex = mutex_at(address);
  sync_point(name, address, pc);
  return release(mutex, pc);
}

static int destroy_mutex(const char *name, const void *address, const void *pc) {
  struct object *mutex = mutex_at(address);
  sync_point(name, address, pc);
  misuse(!mutex->is_destroyed, pc, "destroy of a destroyed mutex");
  misuse(mutex->owner == 0, pc, "destroy of a locked mutex");
  mutex->is_destroyed = is_expected("lock-misuse");
  return mutex->owner > 0 ? EBUSY : 0;
}

static int init_mutex(const char *name, const void *address, int kind, const void *pc) {
  sync_point(name, address, pc);
  fresh(address)->kind = kind;
  return 0;
}

int stand_in_pthread_mutex_init(void *mutex, const void *attributes) {
  int kind = attributes == NULL ? NORMAL : object_at(attributes)->kind;
  return init_mutex("pthread_mutex_init", mutex, kind, CALLER);
}
int stand_in_pthread_mutex_destroy(void *mutex) {
  return destroy_mutex("pthread_mutex_destroy", mutex, CALLER);
}
int stand_in_pthread_mutex_lock(void *mutex) { return lock("pthread_mutex_lock", mutex, CALLER); }
int stand_in_pthread_mutex_trylock(void *mutex) {
  return try_lock("pthread_mutex_trylock", mutex, EBUSY, CALLER);
}
int stand_in_pthread_mutex_timedlock(void *mutex, const void *deadline) {
  (void)deadline;
  return try_lock("pthread_mutex_timedlock", mutex, ETIMEDOUT, CALLER);
}
int stand_in_pthread_mutex_clocklock(void *mutex, int clock, const void *deadline) {
  (void)clock, (void)deadline;
  return try_lock("pthread_mutex_clocklock", mutex, ETIMEDOUT, CALLER);
}
int stand_in_pthread_mutex_unlock(void *mutex) {
  return unlock("pthread_mutex_unlock", mutex, CALLER);
}
int stand_in_pthread_mutexattr_init(void *attributes) {
  fresh(attributes);
  return 0;
}
int stand_in_pthread_mutexattr_destroy(void *attributes) {
  (void)attributes;
  return 0;
}
int stand_in_pthread_mutexattr_settype(void *attributes, int kind) {
  if (kind < 0 || kind > 3) return EINVAL;
  object_at(attributes)->kind = kind == 3 ? NORMAL : kind;
  return 0;
}
int stand_in_pthread_mutexattr_gettype(const void *attributes, int *kind) {
  *kind = object_at(attributes)->kind;
  return 0;
}
int stand_in_mtx_init(void *mutex, int type) {
  return init_mutex("mtx_init", mutex, type & 1 ? RECURSIVE : NORMAL, CALLER);
}
void stand_in_mtx_destroy(void *mutex) { destroy_mutex("mtx_destroy", mutex, CALLER); }
enum { SUCCESS, BUSY, ERROR, NO_MEMORY, TIMED_OUT }; /* of C11 threads, in glibc's order */
int stand_in_mtx_lock(void *mutex) { return lock("mtx_lock", mutex, CALLER) == 0 ? SUCCESS : ERROR; }
int stand_in_mtx_trylock(void *mutex) {
  return try_lock("mtx_trylock", mutex, EBUSY, CALLER) == 0 ? SUCCESS : BUSY;
}
int stand_in_mtx_timedlock(void *mutex, const void *deadline) {
  (void)deadline;
  return try_lock("mtx_timedlock", mutex, ETIMEDOUT, CALLER) == 0 ? SUCCESS : TIMED_OUT;
}
int stand_in_mtx_unlock(void *mutex) {
  return unlock("mtx_unlock", mutex, CALLER) == 0 ? SUCCESS : ERROR;
}

/* --- condition variables */

static int is_woken(const struct operation *operation) {
  return !has(object_at(operation->address)->waiting, (int)(intptr_t)operation->more);
}

/* Names of the parts of a wait. */
struct wait_names {
  const char *begin, *wake, *lock;
};

static void begin_wait(struct object *condition, struct object *mutex, const void *pc) {
  misuse(!condition->is_destroyed, pc, "wait on a destroyed condition variable");
  misuse(size_of(condition->waiting) == 0 || condition->mutex == mutex->address, pc,
         "threads wait on one condition variable with different mutexes");
  misuse(mutex->owner == me(), pc, "wait with a mutex that the thread does not hold");
  condition->mutex = mutex->address;
}

/* `clock` is CLOCK_REALTIME for deadlines that do not say. */
static int wait_until(const struct wait_names *names, const void *address, const void *lock_address,
                      const char *time_out, const struct timespec *deadline, int clock,
                      const void *pc) {
  struct object *condition = object_at(address), *mutex = mutex_at(lock_address);
  int self = me();
  struct operation begin = {.kind = SYNC, .name = names->begin, .address = address, .size = 1,
                            .is_atomic = 1, .pc = pc, .waits_for = "", .other = lock_address};
  point(&begin);
  begin_wait(condition, mutex, pc);
  int result = release(mutex, pc);
  if (result != 0) return result;
  add(condition->waiting, self);
  int may_wake = expected.spurious_wakeups || time_out != NULL;
  struct operation wake_up = {.kind = SYNC, .name = names->wake, .address = address, .size = 1,
                              .is_atomic = 1, .pc = pc, .can_go = may_wake ? NULL : is_woken,
                              .waits_for = "a condition variable",
                              .more = (void *)(intptr_t)self, .is_patient = may_wake};
  point(&wake_up);
  int timed_out = has(condition->waiting, self);
  if (timed_out)
    pass_until(deadline, clock);
  else
    order_after(address);
  if (expected.spurious_wakeups && time_out != NULL && !is_expected("lock-misuse"))
    timed_out = input(time_out, 2) == 1;
  if (has(condition->waiting, self))
    drop(condition->waiting, self);
  else
    condition->leaving--;
  result = lock(names->lock, lock_address, pc);
  return time_out != NULL && timed_out && result == 0 ? ETIMEDOUT : result;
}

static int wait_on(const struct wait_names *names, const void *address, const void *lock_address,
                   const void *pc) {
  return wait_until(names, address, lock_address, NULL, NULL, CLOCK_REALTIME, pc);
}

static void wake(struct object *condition, int number) {
  if (!has(condition->waiting, number)) return;
  drop(condition->waiting, number);
  condition->leaving++;
  order_before(condition->address);
}

static int signal_one(const char *name, const void *address, const void *pc) {
  struct object *condition = object_at(address);
  sync_point(name, address, pc);
  misuse(!condition->is_destroyed, pc, "signal of a destroyed condition variable");
  int count = size_of(condition->waiting);
  if (count > 0)
    wake(condition, member(condition->waiting, input("signalled thread", (uint64_t)count)));
  return 0;
}

static int broadcast(const char *name, const void *address, const void *pc) {
  struct object *condition = object_at(address);
  sync_point(name, address, pc);
  misuse(!condition->is_destroyed, pc, "broadcast of a destroyed condition variable");
  for (int i = 1; i <= thread_count; i++) wake(condition, i);
  return 0;
}

static int nobody_leaves(const struct operation *operation) {
  return object_at(operation->address)->leaving == 0;
}

static int destroy_condition(const char *name, const void *address, const void *pc) {
  struct object *condition = object_at(address);
  misuse(!condition->is_destroyed, pc, "destroy of a destroyed condition variable");
  misuse(size_of(condition->waiting) == 0, pc,
         "destroy of a condition variable that threads wait on");
  wait_point(name, address, pc, expected.spurious_wakeups ? NULL : nobody_leaves,
             "threads to leave the condition variable", NULL);
  condition->is_destroyed = is_expected("lock-misuse");
  return 0;
}

static int init_object(const char *name, const void *address, const void *pc) {
  sync_point(name, address, pc);
  fresh(address);
  return 0;
}

static const struct wait_names posix_wait = {"pthread_cond_wait", "pthread_cond_wait/wake",
                                             "pthread_cond_wait/lock"};
static const struct wait_names posix_timed = {
    "pthread_cond_timedwait", "pthread_cond_timedwait/wake", "pthread_cond_timedwait/lock"};
static const struct wait_names posix_clock = {
    "pthread_cond_clockwait", "pthread_cond_clockwait/wake", "pthread_cond_clockwait/lock"};
static const struct wait_names c11_wait = {"cnd_wait", "cnd_wait/wake", "cnd_wait/lock"};
static const struct wait_names c11_timed = {"cnd_timedwait", "cnd_timedwait/wake",
                                            "cnd_timedwait/lock"};
#define TIME_OUT "time-out of pthread_cond_timedwait"

int stand_in_pthread_cond_init(void *condition, const void *attributes) {
  (void)attributes;
  return init_object("pthread_cond_init", condition, CALLER);
}
int stand_in_pthread_cond_destroy(void *condition) {
  return destroy_condition("pthread_cond_destroy", condition, CALLER);
}
int stand_in_pthread_cond_wait(void *condition, void *mutex) {
  return wait_on(&posix_wait, condition, mutex, CALLER);
}
int stand_in_pthread_cond_timedwait(void *condition, void *mutex, const void *deadline) {
  return wait_until(&posix_timed, condition, mutex, TIME_OUT, deadline, CLOCK_REALTIME, CALLER);
}
int stand_in_pthread_cond_clockwait(void *condition, void *mutex, int clock, const void *deadline) {
  return wait_until(&posix_clock, condition, mutex, TIME_OUT, deadline, clock, CALLER);
}
int stand_in_pthread_cond_signal(void *condition) {
  return signal_one("pthread_cond_signal", condition, CALLER);
}
int stand_in_pthread_cond_broadcast(void *condition) {
  return broadcast("pthread_cond_broadcast", condition, CALLER);
}
int stand_in_cnd_init(void *condition) { return init_object("cnd_init", condition, CALLER); }
void stand_in_cnd_destroy(void *condition) { destroy_condition("cnd_destroy", condition, CALLER); }
int stand_in_cnd_wait(void *condition, void *mutex) {
  return wait_on(&c11_wait, condition, mutex, CALLER) == 0 ? SUCCESS : ERROR;
}
int stand_in_cnd_timedwait(void *condition, void *mutex, const void *deadline) {
  int result =
      wait_until(&c11_timed, condition, mutex, TIME_OUT, deadline, CLOCK_REALTIME, CALLER);
  return result == 0 ? SUCCESS : result == ETIMEDOUT ? TIMED_OUT : ERROR;
}
int stand_in_cnd_signal(void *condition) { return signal_one("cnd_signal", condition, CALLER); }
int stand_in_cnd_broadcast(void *condition) { return broadcast("cnd_broadcast", condition, CALLER); }

/* --- read-write locks and spin locks */

static int can_read(const struct operation *operation) {
  const struct object *lock = object_at(operation->address);
  return lock->owner == 0 || lock->owner == (int)(intptr_t)operation->more;
}
static int can_write(const struct operation *operation) {
  const struct object *lock = object_at(operation->address);
  return lock->owner == (int)(intptr_t)operation->more || (lock->owner == 0 && lock->readers == 0);
}

static int lock_to_read(const char *name, const void *address, const void *pc) {
  struct object *lock = object_at(address);
  misuse(!lock->is_destroyed, pc, "lock of a destroyed read-write lock");
  wait_point(name, address, pc, can_read, "a read-write lock", (void *)(intptr_t)me());
  if (lock->owner == me()) return EDEADLK;
  lock->readers++;
  order_after(address);
  return 0;
}
static int lock_to_write(const char *name, const void *address, const void *pc) {
  struct object *lock = object_at(address);
  misuse(!lock->is_destroyed, pc, "lock of a destroyed read-write lock");
  wait_point(name, address, pc, can_write, "a read-write lock", (void *)(intptr_t)me());
  if (lock->owner == me()) return EDEADLK;
  lock->owner = me();
  order_after(address);
  order_after((const char *)address + 1);
  return 0;
}
static int try_to_read(const char *name, const void *address, int busy, const void *pc) {
  struct object *lock = object_at(address);
  sync_point(name, address, pc);
  misuse(!lock->is_destroyed, pc, "lock of a destroyed read-write lock");
  if (lock->owner != 0) return busy == ETIMEDOUT && lock->owner == me() ? EDEADLK : busy;
  lock->readers++;
  order_after(address);
  return 0;
}
static int try_to_write(const char *name, const void *address, int busy, const void *pc) {
  struct object *lock = object_at(address);
  sync_point(name, address, pc);
  misuse(!lock->is_destroyed, pc, "lock of a destroyed read-write lock");
  if (lock->owner != 0 || lock->readers != 0)
    return busy == ETIMEDOUT && lock->owner == me() ? EDEADLK : busy;
  lock->owner = me();
  order_after(address);
  order_after((const char *)address + 1);
  return 0;
}

int stand_in_pthread_rwlock_init(void *lock, const void *attributes) {
  (void)attributes;
  return init_object("pthread_rwlock_init", lock, CALLER);
}
int stand_in_pthread_rwlock_destroy(void *address) {
  struct object *lock = object_at(address);
  sync_point("pthread_rwlock_destroy", address, CALLER);
  misuse(!lock->is_destroyed, CALLER, "destroy of a destroyed read-write lock");
  misuse(lock->owner == 0 && lock->readers == 0, CALLER,
         "destroy of a read-write lock that is held");
  lock->is_destroyed = is_expected("lock-misuse");
  return 0;
}
int stand_in_pthread_rwlock_rdlock(void *lock) {
  return lock_to_read("pthread_rwlock_rdlock", lock, CALLER);
}
int stand_in_pthread_rwlock_wrlock(void *lock) {
  return lock_to_write("pthread_rwlock_wrlock", lock, CALLER);
}
int stand_in_pthread_rwlock_tryrdlock(void *lock) {
  return try_to_read("pthread_rwlock_tryrdlock", lock, EBUSY, CALLER);
}
int stand_in_pthread_rwlock_trywrlock(void *lock) {
  return try_to_write("pthread_rwlock_trywrlock", lock, EBUSY, CALLER);
}
int stand_in_pthread_rwlock_timedrdlock(void *lock, const void *deadline) {
  (void)deadline;
  return try_to_read("pthread_rwlock_timedrdlock", lock, ETIMEDOUT, CALLER);
}
int stand_in_pthread_rwlock_timedwrlock(void *lock, const void *deadline) {
  (void)deadline;
  return try_to_write("pthread_rwlock_timedwrlock", lock, ETIMEDOUT, CALLER);
}
int stand_in_pthread_rwlock_unlock(void *address) {
  struct object *lock = object_at(address);
  sync_point("pthread_rwlock_unlock", address, CALLER);
  misuse(!lock->is_destroyed, CALLER, "unlock of a destroyed read-write lock");
  misuse(lock->owner == 0 || lock->owner == me(), CALLER,
         "unlock of a read-write lock that another thread holds");
  misuse(lock->owner == me() || lock->readers > 0, CALLER,
         "unlock of a read-write lock that is not locked");
  /* Readers come before later writers, and not before later readers. */
  order_before((const char *)address + (lock->owner == 0));
  if (lock->owner != 0)
    lock->owner = 0;
  else
    lock->readers--;
  return 0;
}

static int spin_is_free(const struct operation *operation) {
  return object_at(operation->address)->owner == 0;
}
int stand_in_pthread_spin_init(void *lock, int shared) {
  (void)shared;
  return init_object("pthread_spin_init", lock, CALLER);
}
int stand_in_pthread_spin_destroy(void *address) {
  struct object *lock = object_at(address);
  sync_point("pthread_spin_destroy", address, CALLER);
  misuse(!lock->is_destroyed, CALLER, "destroy of a destroyed spin lock");
  misuse(lock->owner == 0, CALLER, "destroy of a locked spin lock");
  lock->is_destroyed = is_expected("lock-misuse");
  return 0;
}
int stand_in_pthread_spin_lock(void *address) {
  struct object *lock = object_at(address);
  misuse(!lock->is_destroyed, CALLER, "lock of a destroyed spin lock");
  misuse(lock->owner != me(), CALLER, "lock of a spin lock that the thread holds already");
  wait_for_thread("pthread_spin_lock", address, CALLER, spin_is_free, "a spin lock", NULL, owner_of);
  lock->owner = me();
  order_after(address);
  return 0;
}
int stand_in_pthread_spin_trylock(void *address) {
  struct object *lock = object_at(address);
  sync_point("pthread_spin_trylock", address, CALLER);
  misuse(!lock->is_destroyed, CALLER, "lock of a destroyed spin lock");
  if (lock->owner != 0) return EBUSY;
  lock->owner = me();
  order_after(address);
  return 0;
}
int stand_in_pthread_spin_unlock(void *address) {
  struct object *lock = object_at(address);
  sync_point("pthread_spin_unlock", address, CALLER);
  misuse(lock->owner == me(), CALLER, "unlock of a spin lock that the thread does not hold");
  lock->owner = 0;
  order_before(address);
  return 0;
}

/* --- semaphores */

static int can_take(const struct operation *operation) {
  return object_at(operation->address)->count > 0;
}
static int take(const char *name, const void *address, int busy, const void *pc) {
  struct object *semaphore = object_at(address);
  sync_point(name, address, pc);
  misuse(!semaphore->is_destroyed, pc, "wait on a destroyed semaphore");
  if (semaphore->count == 0) {
    errno = busy;
    return -1;
  }
  semaphore->count--;
  order_after(address);
  return 0;
}
int stand_in_sem_init(void *semaphore, int shared, unsigned value) {
  (void)shared;
  if (value > 2147483647u) {
    errno = EINVAL;
    return -1;
  }
  init_object("sem_init", semaphore, CALLER);
  object_at(semaphore)->count = (int)value;
  return 0;
}
int stand_in_sem_destroy(void *address) {
  struct object *semaphore = object_at(address);
  sync_point("sem_destroy", address, CALLER);
  misuse(!semaphore->is_destroyed, CALLER, "destroy of a destroyed semaphore");
  semaphore->is_destroyed = is_expected("lock-misuse");
  return 0;
}
int stand_in_sem_wait(void *address) {
  struct object *semaphore = object_at(address);
  misuse(!semaphore->is_destroyed, CALLER, "wait on a destroyed semaphore");
  wait_point("sem_wait", address, CALLER, can_take, "a semaphore", NULL);
  semaphore->count--;
  order_after(address);
  return 0;
}
int stand_in_sem_trywait(void *semaphore) {
  return take("sem_trywait", semaphore, EAGAIN, CALLER);
}
int stand_in_sem_timedwait(void *semaphore, const void *deadline) {
  (void)deadline;
  return take("sem_timedwait", semaphore, ETIMEDOUT, CALLER);
}
int stand_in_sem_post(void *address) {
  struct object *semaphore = object_at(address);
  sync_point("sem_post", address, CALLER);
  misuse(!semaphore->is_destroyed, CALLER, "post to a destroyed semaphore");
  if (semaphore->count == 2147483647) {
    errno = EOVERFLOW;
    return -1;
  }
  semaphore->count++;
  order_before(address);
  return 0;
}
int stand_in_sem_getvalue(void *semaphore, int *value) {
  sync_point("sem_getvalue", semaphore, CALLER);
  *value = object_at(semaphore)->count;
  return 0;
}

/* --- barriers and once */

int stand_in_pthread_barrier_init(void *barrier, const void *attributes, unsigned count) {
  (void)attributes;
  if (count == 0) return EINVAL;
  init_object("pthread_barrier_init", barrier, CALLER);
  object_at(barrier)->needed = count;
  return 0;
}
int stand_in_pthread_barrier_destroy(void *address) {
  struct object *barrier = object_at(address);
  misuse(barrier->needed != 0, CALLER, "destroy of a barrier that is not initialised");
  misuse(barrier->arrived == 0, CALLER, "destroy of a barrier that threads wait on");
  wait_point("pthread_barrier_destroy", address, CALLER, nobody_leaves,
             "threads to leave the barrier", NULL);
  if (is_expected("lock-misuse")) barrier->needed = 0;
  return 0;
}
int stand_in_pthread_barrier_wait(void *address) {
  struct object *barrier = object_at(address);
  int self = me();
  sync_point("pthread_barrier_wait", address, CALLER);
  misuse(barrier->needed != 0, CALLER, "wait on a barrier that is not initialised");
  order_before(address);
  if (barrier->arrived + 1 < barrier->needed) {
    barrier->arrived++;
    add(barrier->waiting, self);
    wait_point("pthread_barrier_wait/leave", address, CALLER, is_woken, "a barrier",
               (void *)(intptr_t)self);
    barrier->leaving--;
    order_after(address);
  } else {
    order_after(address);
    add(barrier->waiting, self);
    add(barrier->serial,
        member(barrier->waiting, input("serial thread of the barrier", barrier->needed)));
    barrier->leaving += barrier->arrived;
    barrier->arrived = 0;
    memset(barrier->waiting, 0, sizeof barrier->waiting);
  }
  if (!has(barrier->serial, self)) return 0;
  drop(barrier->serial, self);
  return PTHREAD_BARRIER_SERIAL_THREAD;
}

static int is_not_under_way(const struct operation *operation) {
  return object_at(operation->address)->count != 1;
}
static void once(const char *name, const char *end, const void *address, void (*routine)(void),
                 const void *pc) {
  struct object *state = object_at(address);
  wait_point(name, address, pc, is_not_under_way, "a routine that runs once", NULL);
  order_after(address);
  if (state->count == 2) return;
  state->count = 1;
  routine();
  sync_point(end, address, pc);
  state->count = 2;
  order_before(address);
}
int stand_in_pthread_once(void *state, void (*routine)(void)) {
  once("pthread_once", "pthread_once/done", state, routine, CALLER);
  return 0;
}
void stand_in_call_once(void *state, void (*routine)(void)) {
  once("call_once", "call_once/done", state, routine, CALLER);
}

/* --- thread-specific data */

static int create_key(unsigned *key, void (*destructor)(void *)) {
  if (key_count == MOST_KEYS) return EAGAIN;
  destructors[key_count] = destructor;
  *key = (unsigned)key_count++;
  return 0;
}
static int is_key(unsigned key) { return key < (unsigned)key_count && !is_deleted[key]; }
int stand_in_pthread_key_create(unsigned *key, void (*destructor)(void *)) {
  numbering_point("pthread_key_create", &key_count, CALLER);
  return create_key(key, destructor);
}
int stand_in_pthread_key_delete(unsigned key) {
  sync_point("pthread_key_delete", NULL, CALLER);
  misuse(is_key(key), CALLER, "delete of a key that does not exist");
  if (!is_key(key)) return EINVAL;
  is_deleted[key] = 1;
  destructors[key] = NULL;
  return 0;
}
int stand_in_pthread_setspecific(unsigned key, const void *value) {
  misuse(is_key(key), CALLER, "use of a key that does not exist");
  if (!is_key(key)) return EINVAL;
  values[key] = (void *)value;
  return 0;
}
void *stand_in_pthread_getspecific(unsigned key) { return key < MOST_KEYS ? values[key] : NULL; }
int stand_in_tss_create(unsigned *key, void (*destructor)(void *)) {
  numbering_point("tss_create", &key_count, CALLER);
  return create_key(key, destructor) == 0 ? SUCCESS : ERROR;
}
void stand_in_tss_delete(unsigned key) {
  sync_point("tss_delete", NULL, CALLER);
  if (is_key(key)) is_deleted[key] = 1, destructors[key] = NULL;
}
int stand_in_tss_set(unsigned key, void *value) {
  if (!is_key(key)) return ERROR;
  values[key] = value;
  return SUCCESS;
}
void *stand_in_tss_get(unsigned key) { return key < MOST_KEYS ? values[key] : NULL; }

static void run_destructors(void) {
  int is_done = 0;
  for (int round = 0; !is_done && round < 4; round++) {
    is_done = 1;
    for (int key = 0; key < key_count; key++) {
      void *value = values[key];
      if (value == NULL || destructors[key] == NULL) continue;
      is_done = 0;
      values[key] = NULL;
      destructors[key](value);
    }
  }
}

/* --- threads */

static void finish(struct thread *self, void *result, const void *pc) __attribute__((noreturn));
static void finish(struct thread *self, void *result, const void *pc) {
  run_destructors();
  struct operation exit = {.kind = SYNC, .name = "exit", .size = 1, .is_atomic = 1, .pc = pc,
                           .waits_for = "", .other = self};
  point(&exit);
  self->result = result;
  end_thread(self);
}

static void *begin_thread(void *argument) {
  struct thread *self = argument;
  run_thread(self);
  void *result = self->start != NULL ? self->start(self->argument)
                                     : (void *)(intptr_t)self->start_c11(self->argument);
  finish(self, result, NULL);
}

static int start(struct thread *thread, void *handle, const void *pc) {
  pthread_t real;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (is_hunt()) {  /* hundreds of threads fit into the memory limit */
    thread->born = recorded();
    pthread_attr_setstacksize(&attributes, 1 << 20);
  }
  order_start(thread);
  int result = pthread_create(&real, &attributes, begin_thread, thread);
  pthread_attr_destroy(&attributes);
  if (result != 0) outcome("limit", "the system gives no further thread: %s", strerror(result));
  thread->handle = (uintptr_t)real;
  thread->pending = (struct operation){
      .kind = SYNC, .name = "start", .size = 1, .is_atomic = 1, .waits_for = ""};
  strategy->arrive(thread);
  struct operation store = {.kind = WRITE, .address = handle, .size = sizeof real, .pc = pc,
                            .waits_for = ""};
  point(&store);
  memcpy(handle, &real, sizeof real);
  return 0;
}

int stand_in_pthread_create(void *handle, const void *attributes, void *(*function)(void *),
                          void *argument) {
  numbering_point("pthread_create", &thread_count, CALLER);
  struct thread *thread = new_thread();
  thread->start = function;
  thread->argument = argument;
  thread->is_detached = attributes != NULL && object_at(attributes)->kind == 1;
  return start(thread, handle, CALLER);
}
int stand_in_thrd_create(void *handle, int (*function)(void *), void *argument) {
  numbering_point("thrd_create", &thread_count, CALLER);
  struct thread *thread = new_thread();
  thread->start_c11 = function;
  thread->argument = argument;
  return start(thread, handle, CALLER);
}
void stand_in_pthread_exit(void *result) { finish(myself(), result, CALLER); }
void stand_in_thrd_exit(int result) { finish(myself(), (void *)(intptr_t)result, CALLER); }

static struct thread *thread_of(uintptr_t handle) {
  for (int i = 1; i <= thread_count; i++)
    if (threads[i].handle == handle) return &threads[i];
  return NULL;
}
static int has_ended(const struct operation *operation) {
  return ((const struct thread *)operation->more)->is_over;
}
static int number_of(const struct operation *operation) {
  return ((const struct thread *)operation->more)->number;
}
static int join(const char *name, uintptr_t handle, void **result, const void *pc) {
  struct thread *thread = thread_of(handle);
  if (thread == NULL) return ESRCH;
  if (thread == myself()) {
    misuse(0, pc, "a thread joins itself");
    return EDEADLK;
  }
  misuse(!thread->is_detached, pc, "join of a detached thread");
  misuse(!thread->is_joined, pc, "join of a thread that is joined already");
  struct operation wait = {.kind = SYNC, .name = name, .size = 1, .is_atomic = 1, .pc = pc,
                           .can_go = has_ended, .waits_for = "the end of a thread",
                           .more = thread, .releaser = number_of, .other = thread};
  point(&wait);
  order_join(thread);
  misuse(!thread->is_joined, pc, "join of a thread that is joined already");
  thread->is_joined = 1;
  if (result != NULL) *result = thread->result;
  return 0;
}
int stand_in_pthread_join(uintptr_t handle, void **result) {
  void *value = NULL;
  int answer = join("pthread_join", handle, &value, CALLER);
  if (answer == 0 && result != NULL) {
    struct operation store = {.kind = WRITE, .address = result, .size = sizeof value,
                              .pc = CALLER, .waits_for = ""};
    point(&store);
    *result = value;
  }
  return answer;
}
int stand_in_pthread_tryjoin_np(uintptr_t handle, void **result) {
  struct thread *thread = thread_of(handle);
  numbering_point("pthread_tryjoin_np", thread, CALLER);
  if (thread == NULL || !thread->is_over) return EBUSY;
  return join("pthread_tryjoin_np/join", handle, result, CALLER);
}
int stand_in_thrd_join(uintptr_t handle, int *result) {
  void *value = NULL;
  if (join("thrd_join", handle, &value, CALLER) != 0) return ERROR;
  if (result != NULL) *result = (int)(intptr_t)value;
  return SUCCESS;
}
static int detach(const char *name, uintptr_t handle, const void *pc) {
  struct thread *thread = thread_of(handle);
  sync_point(name, NULL, pc);
  if (thread == NULL) return ESRCH;
  misuse(!thread->is_detached, pc, "detach of a detached thread");
  misuse(!thread->is_joined, pc, "detach of a thread that is joined already");
  int was = thread->is_detached;
  thread->is_detached = 1;
  return was ? EINVAL : 0;
}
int stand_in_pthread_detach(uintptr_t handle) { return detach("pthread_detach", handle, CALLER); }
int stand_in_thrd_detach(uintptr_t handle) {
  return detach("thrd_detach", handle, CALLER) == 0 ? SUCCESS : ERROR;
}
int stand_in_pthread_attr_init(void *attributes) {
  fresh(attributes);
  return 0;
}
int stand_in_pthread_attr_destroy(void *attributes) {
  (void)attributes;
  return 0;
}
int stand_in_pthread_attr_setdetachstate(void *attributes, int state) {
  object_at(attributes)->kind = state;
  return 0;
}
int stand_in_pthread_cancel(uintptr_t handle) {
  struct thread *thread = thread_of(handle);
  if (!is_hunt()) outcome("unsupported", "pthread_cancel");
  numbering_point("pthread_cancel", thread, CALLER);
  if (thread == NULL || thread->is_over) return ESRCH;
  thread->is_cancelled = 1;
  order_before(thread);
  return 0;
}
/* At a call that waits; condition variables and handlers are another matter. */
void end_cancelled(struct thread *self, const void *pc) {
  if (self->has_cleanup)
    outcome("unsupported", "thread %d with cleanup handlers is cancelled at %s", self->number,
            place(pc));
  self->is_cancelled = 0;
  order_after(self);
  finish(self, PTHREAD_CANCELED, pc);
}

/* --- time passes whenever the plan says so */

unsigned stand_in_sleep(unsigned seconds) {
  (void)seconds;
  return (unsigned)input("sleep()", 0);
}
int stand_in_usleep(unsigned time) {
  (void)time;
  return (int)input("usleep()", 0);
}
int stand_in_nanosleep(const struct timespec *time, struct timespec *left) {
  (void)time, (void)left;
  return (int)input("nanosleep()", 0);
}
/* In a hunt a spinning thread lets others go on. */
static void yield(const char *name, const void *pc) {
  struct operation operation = {.kind = SYNC, .name = name, .size = 1, .is_atomic = 1, .pc = pc,
                                .waits_for = "", .is_patient = 1};
  if (is_hunt()) point(&operation);
}
int stand_in_sched_yield(void) { return yield("sched_yield", CALLER), 0; }
int stand_in_pthread_yield(void) { return yield("pthread_yield", CALLER), 0; }
void stand_in_thrd_yield(void) { yield("thrd_yield", CALLER); }
int stand_in_thrd_sleep(const struct timespec *time, struct timespec *left) {
  (void)time, (void)left;
  return 0;
}
