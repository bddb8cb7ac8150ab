/* What all library models share: the intrinsics, errno values, the thread control block.
 *
 * The models overlay glibc's types (same sizes, and the kind of a mutex at glibc's place), so
 * that the static initialisers of glibc's headers and of ours both work: all-zero bytes are a
 * default-initialised object. Everything that threads share is accessed in atomic sections.
 */
#ifndef PLAIT_LIBRARY_H
#define PLAIT_LIBRARY_H

#ifndef PLAIT_SPURIOUS_WAKEUPS
#define PLAIT_SPURIOUS_WAKEUPS 1
#endif
#ifndef PLAIT_CHECK_LOCKS
#define PLAIT_CHECK_LOCKS 0
#define PLAIT_CHECK_WAITS 0
#endif

#ifndef PLAIT_FAILING_CALLS
#define PLAIT_FAILING_CALLS 0
#endif

/* Whether a thread can be cancelled: else cancellation points are not part of the model. */
#ifndef PLAIT_CANCEL
#define PLAIT_CANCEL 0
#endif

/* Whether signal masks are kept. */
#ifndef PLAIT_SIGNALS
#define PLAIT_SIGNALS 0
#endif

/* Whether signals that have a handler may arrive from outside. */
#ifndef PLAIT_ARRIVING_SIGNALS
#define PLAIT_ARRIVING_SIGNALS 1
#endif

/* Whether the program maps memory. */
#ifndef PLAIT_MAPPINGS
#define PLAIT_MAPPINGS 0
#endif

/* Whether the memory model is C11: then a section synchronises with others by its fences. What it has
   read before an acquire fence it acquires, and what it writes is released if it has a release fence; a
   section that only reads a place and writes it goes on with what has been released there. Under
   other models every section synchronises with all others. */
#ifndef PLAIT_C11
#define PLAIT_C11 0
#endif
#if PLAIT_C11
void __plait_fence(int order);
#define PLAIT_ACQUIRE() __plait_fence(2)
#define PLAIT_RELEASE() __plait_fence(3)
/* Of a function that fails where it would block: what it has looked at in its section is free, and it
   fails because it looks at it as it was before. That is what happens where the call does not
   know (by happens-before) that it is free: it orders nothing, as a failed compare-and-exchange. */
void __plait_looks_back(void);
void __plait_looks_far_back(void); /* at what was free even before */
#define PLAIT_LOOKS_BACK(is_free) ((is_free) && __plait_choose("whether an earlier state is seen", 2))
#else
#define PLAIT_ACQUIRE() ((void)0)
#define PLAIT_RELEASE() ((void)0)
#endif

/* At the beginning of a function that may fail for reasons outside of the program. */
#if PLAIT_FAILING_CALLS
#define PLAIT_MAY_FAIL(name, result) \
  if (__plait_choose("failure of " name, 2)) return result
#else
#define PLAIT_MAY_FAIL(name, result)
#endif

/* What a monitor watches (monitors.md), inside of the atomic section that does it. */
#if PLAIT_WATCH_LOCK
void __plait_event_lock(void *);
#define PLAIT_LOCKED(lock) __plait_event_lock(lock)
#else
#define PLAIT_LOCKED(lock) ((void)0)
#endif
#if PLAIT_WATCH_UNLOCK
void __plait_event_unlock(void *);
#define PLAIT_UNLOCKED(lock) __plait_event_unlock(lock)
#else
#define PLAIT_UNLOCKED(lock) ((void)0)
#endif
#if PLAIT_WATCH_CREATE
void __plait_event_create(void *(*)(void *), void *);
#define PLAIT_CREATES(start, argument) __plait_event_create(start, argument)
#else
#define PLAIT_CREATES(start, argument) ((void)0)
#endif
#if PLAIT_WATCH_END
void __plait_event_end(void);
#define PLAIT_ENDS() __plait_event_end()
#else
#define PLAIT_ENDS() ((void)0)
#endif
#if PLAIT_WATCH_JOIN
void __plait_event_join(void);
#define PLAIT_JOINED() __plait_event_join()
#else
#define PLAIT_JOINED() ((void)0)
#endif
#if PLAIT_WATCH_EXIT
void __plait_event_exit(void);
#define PLAIT_EXITS() __plait_event_exit()
#else
#define PLAIT_EXITS() ((void)0)
#endif

#define NULL ((void *)0)
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ssize_t;

void __plait_atomic_begin(void);
void __plait_atomic_end(void);
void __plait_wait(int condition, const char *what, const volatile void *on);
int __plait_self(void);
int __plait_spawn(void (*start)(void *), void *argument);
void __plait_end_thread(void) __attribute__((__noreturn__));
void __plait_end_process(int status, const char *how) __attribute__((__noreturn__));
void __plait_check(const char *kind, int condition, const char *message);
void __plait_assume(int condition);
int __plait_choose(const char *name, int count);
void *__plait_allocate(size_t size, int zeroed, const char *storage);
/* What is allocated as one storage can be freed and measured only as that (the list: model/machine.py). */
void __plait_free(void *object, const char *storage);
size_t __plait_object_size(void *object, const char *storage);
void __plait_unsupported(const char *message);

int __VERIFIER_nondet_int(void);
unsigned int __VERIFIER_nondet_uint(void);
long __VERIFIER_nondet_long(void);
long long __VERIFIER_nondet_longlong(void);
unsigned char __VERIFIER_nondet_uchar(void);

#define EPERM 1
#define EAGAIN 11
#define ENOMEM 12
#define EBUSY 16
#define EINVAL 22
#define ERANGE 34
#define EDEADLK 35
#define EOVERFLOW 75
#define ETIMEDOUT 110

int *__errno_location(void);

void __plait_read_text(const char *);
void __plait_read_bytes(const void *, size_t);
void __plait_unknown_bytes(void *, size_t);
void __plait_unknown_text(char *, size_t);
char *__plait_message(void);
char *__plait_string(int may_be_null);
char *__plait_given_string(void);
void __plait_note_failure(int failed);
void __plait_note_possible_failure(void);

/* An access that is there only so that one to a dead object, or a race, is noticed. */
#define PLAIT_TOUCH(object) ((void)*(const volatile char *)(object))
/* The same of a whole member, which is not cut into bytes for it. */
#define PLAIT_TOUCH_MEMBER(member) ((void)*(const volatile __typeof__(member) *)&(member))
#define PLAIT_TOUCH_OPTIONAL(object) ((object) == NULL ? (void)0 : PLAIT_TOUCH(object))

struct timespec {
  long tv_sec;
  long tv_nsec;
};

/* A pthread_t is the address of one of these. What is not needed any more is cleared, so that it
   does not keep memory of the program reachable. */
struct __plait_thread {
  int done;
  int detached;
  int joined;
  void *result;
  void *(*start)(void *);
  int (*start_c11)(void *);
  void *argument;
#if PLAIT_CANCEL
  int cancelled;
#endif
#if PLAIT_SIGNALS
  unsigned long long blocked; /* signals */
  unsigned long long sent;    /* to this thread while they were blocked: they may be pending */
#endif
};

/* Null in the initial thread until it asks for its pthread_t. */
extern _Thread_local struct __plait_thread *__plait_current;
/* Set by the first key, cleanup handler or atexit handler: most programs have none, and then
   neither the code nor the state is part of the model. */
extern _Thread_local void (*__plait_run_key_destructors)(void);
extern _Thread_local void (*__plait_run_cleanup_handlers)(void);
extern void (*__plait_run_exit_handlers)(void);
#if PLAIT_SIGNALS
extern unsigned long long __plait_initially_blocked; /* in the initial thread, now */
extern unsigned long long __plait_open_signals;      /* that some created thread had not blocked */
#define PLAIT_INHERIT_MASK(block)                                             \
  if (__plait_current != NULL) (block)->blocked = __plait_current->blocked;   \
  __plait_open_signals = __plait_open_signals | ~(block)->blocked
#else
#define PLAIT_INHERIT_MASK(block)
#endif
#if PLAIT_CANCEL
extern _Thread_local int __plait_is_ending; /* and cannot be cancelled any more */
int __plait_is_cancelled(void);
void __plait_end_cancelled(void) __attribute__((__noreturn__));
#endif

/* POSIX 2.9.2: the lifetime of a thread ID ends when the thread has ended and was detached or joined;
   to use it then is undefined. So are joins and detachments of a thread that is not joinable. */
#if PLAIT_CHECK_LOCKS
#define PLAIT_ID_RULE(condition, message) __plait_check("lock-misuse", condition, message)
#else
#define PLAIT_ID_RULE(condition, message) __plait_check("undefined behaviour", condition, message)
#endif
#define PLAIT_JOINABLE(block, what)                                     \
  PLAIT_ID_RULE(!(block)->detached, what " of a detached thread");      \
  PLAIT_ID_RULE(!(block)->joined, what " of a thread that is joined already")
#define PLAIT_IN_LIFETIME(block)                                        \
  PLAIT_ID_RULE(!(block)->joined && !((block)->detached && (block)->done), \
                "use of the ID of a thread whose lifetime is over")

struct __plait_mutex {
  int owner; /* 0: free, -1: destroyed (only where misuse is checked), else a thread's number */
  int count; /* how often the owner of a recursive mutex holds it beyond the first time */
  int unused;
#ifdef __LP64__
  int unused_too;
#endif
  int kind;
};

enum { PLAIT_NORMAL, PLAIT_RECURSIVE, PLAIT_ERRORCHECK, PLAIT_ADAPTIVE, PLAIT_KINDS = 3 };

struct __plait_attributes {
  int detached;
  size_t stack_size;
  size_t guard_size;
};

int pthread_create(unsigned long *, const struct __plait_attributes *, void *(*)(void *), void *);
void pthread_exit(void *) __attribute__((__noreturn__));
int pthread_join(unsigned long, void **);
int pthread_detach(unsigned long);
unsigned long pthread_self(void);
int pthread_mutex_lock(struct __plait_mutex *);
int pthread_mutex_trylock(struct __plait_mutex *);
int pthread_mutex_timedlock(struct __plait_mutex *, const struct timespec *);
int pthread_mutex_unlock(struct __plait_mutex *);

void *malloc(size_t);
void abort(void) __attribute__((__noreturn__));
void exit(int) __attribute__((__noreturn__));
void *memcpy(void *, const void *, size_t);
size_t strlen(const char *);

#endif
