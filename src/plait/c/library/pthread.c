/* POSIX threads: creation, end, join, attributes. */
#include "plait.h"

#if PLAIT_C11
/* Known by their names; `far_back` has no verdict where the other one has an execution. */
void __plait_looks_back(void) {
  __plait_atomic_begin();
  __plait_atomic_end();
}
void __plait_looks_far_back(void) {
  __plait_atomic_begin();
  __plait_atomic_end();
}
#endif

/* The first function of a created thread. */
static void __plait_run_thread(void *argument) {
  struct __plait_thread *block = argument;
  void *(*start)(void *);
  void *value;
  __plait_atomic_begin();
  __plait_current = block;
  start = block->start;
  value = block->argument;
  PLAIT_ACQUIRE();
  block->start = NULL;
  block->argument = NULL;
  __plait_atomic_end();
  pthread_exit(start(value));
}

/* The new thread may run before *thread is written: POSIX promises no order between them.
   Fails for lack of resources only with --failing-calls. */
int pthread_create(unsigned long *thread, const struct __plait_attributes *attributes,
                   void *(*start)(void *), void *argument) {
  struct __plait_thread *block;
  int detached = attributes != NULL && attributes->detached;
  PLAIT_MAY_FAIL("pthread_create", EAGAIN);
  __plait_atomic_begin();
  block = __plait_allocate(sizeof(struct __plait_thread), 1, "library");
  block->start = start;
  block->argument = argument;
  block->detached = detached;
  PLAIT_INHERIT_MASK(block);
  PLAIT_RELEASE();
  PLAIT_CREATES(start, argument);
  __plait_spawn(__plait_run_thread, block);
  __plait_atomic_end();
  *thread = (unsigned long)block;
  return 0;
}

/* The end of the last thread is a call of exit. Threads are not counted, but it can be the last one
   only if the initial thread has ended, and only that has atexit handlers (see atexit). */
static void __plait_finish(void *result) {
  struct __plait_thread *block = __plait_current;
  if (__plait_self() == 1 && __plait_run_exit_handlers != NULL)
    __plait_unsupported("pthread_exit of the initial thread with atexit handlers");
#if PLAIT_SIGNALS
  if (__plait_self() == 1) __plait_initially_blocked = ~0ULL; /* it gets none any more */
#endif
  PLAIT_RELEASE();
  if (block != NULL) {
    if (!block->detached) block->result = result;
    block->done = 1;
  }
  PLAIT_ENDS();
}

/* Cleanup handlers run first, then the destructors of keys, then the result can be joined: all
   in one step where there are none. A state in which no thread is left is an end. */
void pthread_exit(void *result) {
  int is_plain;
#if PLAIT_CANCEL
  __plait_is_ending = 1;
#endif
  __plait_atomic_begin();
  is_plain = __plait_run_cleanup_handlers == NULL && __plait_run_key_destructors == NULL;
  if (is_plain) __plait_finish(result);
  __plait_atomic_end();
  if (!is_plain) {
    if (__plait_run_cleanup_handlers != NULL) __plait_run_cleanup_handlers();
    if (__plait_run_key_destructors != NULL) __plait_run_key_destructors();
    __plait_atomic_begin();
    __plait_finish(result);
    __plait_atomic_end();
  }
  __plait_end_thread();
}

/* Blocks until the thread has ended. To join oneself is undefined; glibc answers EDEADLK. Of two
   joins of one thread at the same time the second one notices when the first is done. Where the
   thread has ended before, glibc does not look whether the caller is cancelled, though POSIX asks for
   it: both may happen. */
int pthread_join(unsigned long thread, void **result) {
  struct __plait_thread *block = (struct __plait_thread *)thread;
  void *value;
#if PLAIT_CANCEL
  int done;
  int is_cancelled;
#endif
  __plait_atomic_begin();
  if (block != NULL && block == __plait_current) {
    PLAIT_ID_RULE(0, "a thread joins itself");
    __plait_atomic_end();
    return EDEADLK;
  }
  PLAIT_JOINABLE(block, "join");
#if PLAIT_CANCEL
  done = block->done;
  is_cancelled = __plait_is_cancelled();
  __plait_wait(done || is_cancelled, "join", block);
  if (is_cancelled && (!done || __plait_choose("whether a join is cancelled", 2))) {
    __plait_atomic_end();
    __plait_end_cancelled();
  }
#else
  __plait_wait(block->done, "join", block);
#endif
  PLAIT_ACQUIRE();
  PLAIT_JOINED();
  block->joined = 1;
  value = block->result;
  block->result = NULL;
  __plait_atomic_end();
  if (result != NULL) *result = value;
  return 0;
}

/* As pthread_join, but EBUSY where it would block (GNU). */
int pthread_tryjoin_np(unsigned long thread, void **result) {
  struct __plait_thread *block = (struct __plait_thread *)thread;
  int done;
  __plait_atomic_begin();
  PLAIT_JOINABLE(block, "join");
  done = block->done;
  __plait_atomic_end();
  return done ? pthread_join(thread, result) : EBUSY;
}

/* The time-out can pass at any moment before the thread ends (GNU). */
int pthread_timedjoin_np(unsigned long thread, void **result, const struct timespec *deadline) {
  if (thread != 0 && thread == (unsigned long)__plait_current) return pthread_join(thread, result);
  return pthread_tryjoin_np(thread, result) == EBUSY ? ETIMEDOUT : 0;
}

/* The thread's resources go when it ends; it cannot be joined any more. It may have ended before. */
int pthread_detach(unsigned long thread) {
  struct __plait_thread *block = (struct __plait_thread *)thread;
  __plait_atomic_begin();
  PLAIT_JOINABLE(block, "detach");
  block->detached = 1;
  block->result = NULL;
  __plait_atomic_end();
  return 0;
}

unsigned long pthread_self(void) {
  if (__plait_current == NULL)
    __plait_current = __plait_allocate(sizeof(struct __plait_thread), 1, "library");
  return (unsigned long)__plait_current;
}

/* Something that needs an ID in its lifetime; that of the caller is. */
static void __plait_use_id(unsigned long thread) {
  struct __plait_thread *block = (struct __plait_thread *)thread;
  if (block == __plait_current && block != NULL) return;
  __plait_atomic_begin();
  PLAIT_IN_LIFETIME(block);
  __plait_atomic_end();
}

/* POSIX.1-2024 also compares with PTHREAD_NULL, which is no thread's ID. */
int pthread_equal(unsigned long one, unsigned long other) {
  if (one != 0) __plait_use_id(one);
  if (other != 0) __plait_use_id(other);
  return one == other;
}

/* Attributes: only the detach state has a meaning here, sizes are remembered. */
int pthread_attr_init(struct __plait_attributes *attributes) {
  attributes->detached = 0;
  attributes->stack_size = 8388608;
  attributes->guard_size = 4096;
  return 0;
}
int pthread_attr_destroy(struct __plait_attributes *attributes) {
  PLAIT_TOUCH(attributes);
  return 0;
}
int pthread_attr_setdetachstate(struct __plait_attributes *attributes, int state) {
  if (state != 0 && state != 1) return EINVAL;
  attributes->detached = state;
  return 0;
}
int pthread_attr_getdetachstate(const struct __plait_attributes *attributes, int *state) {
  *state = attributes->detached;
  return 0;
}
int pthread_attr_setstacksize(struct __plait_attributes *attributes, size_t size) {
  if (size < 16384) return EINVAL;
  attributes->stack_size = size;
  return 0;
}
int pthread_attr_getstacksize(const struct __plait_attributes *attributes, size_t *size) {
  *size = attributes->stack_size;
  return 0;
}
int pthread_attr_setstack(struct __plait_attributes *attributes, void *stack, size_t size) {
  PLAIT_TOUCH(attributes);
  return 0;
}
int pthread_attr_setguardsize(struct __plait_attributes *attributes, size_t size) {
  attributes->guard_size = size;
  return 0;
}
int pthread_attr_getguardsize(const struct __plait_attributes *attributes, size_t *size) {
  *size = attributes->guard_size;
  return 0;
}
int pthread_attr_setscope(struct __plait_attributes *attributes, int scope) {
  PLAIT_TOUCH(attributes);
  return 0;
}
int pthread_attr_setinheritsched(struct __plait_attributes *attributes, int inherit) {
  PLAIT_TOUCH(attributes);
  return 0;
}
int pthread_attr_setschedpolicy(struct __plait_attributes *attributes, int policy) {
  PLAIT_TOUCH(attributes);
  return 0;
}
int pthread_attr_setschedparam(struct __plait_attributes *attributes, const void *parameters) {
  PLAIT_TOUCH(attributes);
  return 0;
}

/* Scheduling hints have no effect: every interleaving is possible anyway. */
int pthread_yield(void) { return 0; }
int pthread_setconcurrency(int level) { return 0; }
/* The name of the calling thread (Linux); other options are about processes. */
int prctl(int option, ...) {
  __builtin_va_list arguments;
  if (option != 15) __plait_unsupported("'prctl' with another option than PR_SET_NAME");
  __builtin_va_start(arguments, option);
  __plait_read_text(__builtin_va_arg(arguments, const char *));
  __builtin_va_end(arguments);
  return 0;
}
int pthread_setname_np(unsigned long thread, const char *name) {
  __plait_use_id(thread);
  return 0;
}
int pthread_setschedprio(unsigned long thread, int priority) {
  __plait_use_id(thread);
  return 0;
}
int pthread_setschedparam(unsigned long thread, int policy, const void *parameters) {
  __plait_use_id(thread);
  return 0;
}
int pthread_setaffinity_np(unsigned long thread, size_t size, const void *set) {
  __plait_use_id(thread);
  return 0;
}
