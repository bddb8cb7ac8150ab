/* Signals. From outside none arrives but where sigwait waits for one: others would end the process, or
   are ignored. Which signals a thread blocks matters where the program sends some itself (or asks for
   it), so only there the masks are kept. The handler of a signal that a thread sends to itself runs at
   once. That of others could run at any time, which is not supported: executions in which none comes
   are examined, and no other is said to be. */
#include "plait.h"

#define PLAIT_WORDS (1024 / (8 * sizeof(unsigned long)))
struct __plait_signals {
  unsigned long words[PLAIT_WORDS];
};

typedef unsigned long long __plait_mask_t; /* bit n-1: signal n */
enum { PLAIT_SIGKILL = 9, PLAIT_SIGCHLD = 17, PLAIT_SIGCONT = 18, PLAIT_SIGSTOP = 19 };
enum { PLAIT_SIGTTOU = 22, PLAIT_SIGURG = 23, PLAIT_SIGWINCH = 28 };
#define PLAIT_MASK_OF(number) (1ULL << ((number) - 1))

#if PLAIT_SIGNALS
static __plait_mask_t __plait_ignored; /* none at the start */
static __plait_mask_t __plait_sent;    /* to the process, while they were blocked */
#endif

#define PLAIT_IS_HANDLER(handler) ((__UINTPTR_TYPE__)(handler) > 1)
static __plait_mask_t __plait_disposed; /* signals whose handlers the program has set */
static void *__plait_handlers[64];
#if PLAIT_SIGNALS
static __plait_mask_t __plait_handler_masks[64]; /* what is blocked while they run */
static int __plait_handler_flags[64];
#endif
static __plait_mask_t __plait_mask_in(const struct __plait_signals *set);

/* As it was before may be ignored only if the parent has left it so. */
static void *__plait_handler(int number) {
  if (__plait_disposed & PLAIT_MASK_OF(number)) return __plait_handlers[number - 1];
  if (__plait_choose("whether a signal was ignored before", 2)) return (void *)1;
  return NULL;
}
static void *__plait_dispose(int number, void *handler, __plait_mask_t mask, int flags) {
  void *before;
#if PLAIT_ARRIVING_SIGNALS
  if (PLAIT_IS_HANDLER(handler) && __plait_choose("whether a signal arrives", 2))
    __plait_unsupported("a signal that is handled (--no-signals assumes that none arrives)");
#endif
  __plait_atomic_begin();
  before = __plait_handler(number);
  __plait_disposed = __plait_disposed | PLAIT_MASK_OF(number);
  __plait_handlers[number - 1] = handler;
#if PLAIT_SIGNALS
  __plait_handler_masks[number - 1] = mask;
  __plait_handler_flags[number - 1] = flags;
  if (handler == NULL)
    __plait_ignored = __plait_ignored & ~PLAIT_MASK_OF(number);
  else
    __plait_ignored = __plait_ignored | PLAIT_MASK_OF(number);
#endif
  __plait_atomic_end();
  return before;
}

static int __plait_can_be_disposed(int number) {
  if (number >= 1 && number <= 64 && number != PLAIT_SIGKILL && number != PLAIT_SIGSTOP) return 1;
  *__errno_location() = EINVAL;
  return 0;
}

void *signal(int number, void (*handler)(int)) {
  if (!__plait_can_be_disposed(number)) return (void *)-1;
  return __plait_dispose(number, (void *)handler, 0, 0);
}

struct __plait_action {
  void *handler;
  struct __plait_signals mask;
  int flags;
  void *restorer;
};
int sigaction(int number, const struct __plait_action *action, struct __plait_action *old) {
  void *before = NULL;
  if (!__plait_can_be_disposed(number)) return -1;
  if (action != NULL)
    before = __plait_dispose(number, action->handler,
                             PLAIT_IS_HANDLER(action->handler) ? __plait_mask_in(&action->mask) : 0,
                             PLAIT_IS_HANDLER(action->handler) ? action->flags : 0);
  else {
    __plait_atomic_begin();
    before = __plait_handler(number);
    __plait_atomic_end();
  }
  if (old != NULL) {
    size_t at;
    old->handler = before;
    for (at = 0; at < PLAIT_WORDS; at = at + 1) old->mask.words[at] = 0;
    old->flags = 0;
    if (PLAIT_IS_HANDLER(before))
      __plait_unsupported("to read the mask and flags of a signal that is handled");
  }
  return 0;
}

static int __plait_set_all(struct __plait_signals *set, unsigned long word) {
  size_t at;
  for (at = 0; at < PLAIT_WORDS; at = at + 1) set->words[at] = word;
  return 0;
}
int sigemptyset(struct __plait_signals *set) { return __plait_set_all(set, 0); }
int sigfillset(struct __plait_signals *set) { return __plait_set_all(set, ~0UL); }

/* Signals 1 to 64 are the bits of the first one or two words. */
static unsigned long *__plait_word(struct __plait_signals *set, int number) {
  return &set->words[(unsigned int)(number - 1) / (8 * sizeof(unsigned long))];
}
static unsigned long __plait_bit(int number) {
  return 1UL << ((unsigned int)(number - 1) % (8 * sizeof(unsigned long)));
}
static int __plait_known(int number) {
  if (number >= 1 && number <= 64) return 1;
  *__errno_location() = EINVAL;
  return 0;
}
int sigaddset(struct __plait_signals *set, int number) {
  unsigned long *word;
  if (!__plait_known(number)) return -1;
  word = __plait_word(set, number);
  *word = *word | __plait_bit(number);
  return 0;
}
int sigdelset(struct __plait_signals *set, int number) {
  unsigned long *word;
  if (!__plait_known(number)) return -1;
  word = __plait_word(set, number);
  *word = *word & ~__plait_bit(number);
  return 0;
}
int sigismember(struct __plait_signals *set, int number) {
  if (!__plait_known(number)) return -1;
  return (*__plait_word(set, number) & __plait_bit(number)) != 0;
}

static __plait_mask_t __plait_mask_in(const struct __plait_signals *set) {
#ifdef __LP64__
  return set->words[0];
#else
  return set->words[0] | (__plait_mask_t)set->words[1] << 32;
#endif
}

#if PLAIT_SIGNALS
static void __plait_tell_mask(struct __plait_signals *set, __plait_mask_t mask) {
  size_t at;
  for (at = 0; at < PLAIT_WORDS; at = at + 1) set->words[at] = 0;
  set->words[0] = (unsigned long)mask;
#ifndef __LP64__
  set->words[1] = (unsigned long)(mask >> 32);
#endif
}

static void __plait_set_mask(struct __plait_thread *block, __plait_mask_t mask) {
  __plait_atomic_begin();
  if ((__plait_sent | block->sent) & block->blocked & ~mask)
    __plait_unsupported("to unblock a signal that may be pending");
  block->blocked = mask;
  if (__plait_self() == 1)
    __plait_initially_blocked = mask;
  else
    __plait_open_signals = __plait_open_signals | ~mask;
  __plait_atomic_end();
}

/* The mask is in the block of the thread, where others find it. Each thread has that of the one that
   creates it; the initial one blocks nothing at the start. */
int pthread_sigmask(int how, const struct __plait_signals *set, struct __plait_signals *old) {
  struct __plait_thread *block;
  __plait_mask_t before;
  __plait_mask_t mask;
  pthread_self();
  block = __plait_current;
  before = block->blocked;
  mask = before;
  if (set != NULL) {
    __plait_mask_t named = __plait_mask_in(set);
    if (how < 0 || how > 2) return EINVAL;
    if (how == 0) mask = before | named;  /* SIG_BLOCK */
    if (how == 1) mask = before & ~named; /* SIG_UNBLOCK */
    if (how == 2) mask = named;           /* SIG_SETMASK */
    mask = mask & ~(PLAIT_MASK_OF(PLAIT_SIGKILL) | PLAIT_MASK_OF(PLAIT_SIGSTOP));
    __plait_set_mask(block, mask);
  }
  if (old != NULL) __plait_tell_mask(old, before);
  return 0;
}

/* In the calling thread, in the place of what it does. A jump out of the handler leaves the mask. */
enum { PLAIT_SA_SIGINFO = 4, PLAIT_SA_NODEFER = 0x40000000, PLAIT_SA_RESETHAND = (int)0x80000000 };
static void __plait_run_handler(int number) {
  struct __plait_thread *block;
  void (*handler)(int);
  __plait_mask_t before;
  __plait_mask_t mask;
  int flags;
  pthread_self();
  block = __plait_current;
  before = block->blocked;
  __plait_atomic_begin();
  handler = (void (*)(int))__plait_handlers[number - 1];
  flags = __plait_handler_flags[number - 1];
  mask = before | __plait_handler_masks[number - 1];
  if (flags & PLAIT_SA_SIGINFO) __plait_unsupported("a signal whose handler has three parameters");
  if (flags & PLAIT_SA_RESETHAND) {
    __plait_handlers[number - 1] = NULL;
    __plait_ignored = __plait_ignored & ~PLAIT_MASK_OF(number);
  }
  __plait_atomic_end();
  if (!(flags & PLAIT_SA_NODEFER)) mask = mask | PLAIT_MASK_OF(number);
  __plait_set_mask(block, mask & ~(PLAIT_MASK_OF(PLAIT_SIGKILL) | PLAIT_MASK_OF(PLAIT_SIGSTOP)));
  handler(number);
  __plait_set_mask(block, before);
}

/* For jumps that restore the mask. */
unsigned long long __plait_signal_mask(void) {
  pthread_self();
  return __plait_current->blocked;
}
void __plait_restore_signal_mask(unsigned long long mask) {
  pthread_self();
  __plait_set_mask(__plait_current, mask);
}

/* A signal that nobody blocks does what it does by itself, which is the same in all threads, or calls
   the handler, in the thread that gets it. One that is blocked stays until sigwait takes it, or for
   ever. */
static int __plait_arrive(int number, int is_blocked, int is_own) {
  int is_ignored;
  int is_handled;
  __plait_atomic_begin();
  is_ignored = (__plait_ignored & PLAIT_MASK_OF(number)) != 0;
  is_handled = PLAIT_IS_HANDLER(__plait_handlers[number - 1]);
  __plait_atomic_end();
  if (is_blocked) return 0;
  if (is_handled) {
    if (!is_own) __plait_unsupported("a signal whose handler another thread may run");
    __plait_run_handler(number);
    return 0;
  }
  if (is_ignored) return 0;
  if (number == PLAIT_SIGCHLD || number == PLAIT_SIGCONT || number == PLAIT_SIGURG ||
      number == PLAIT_SIGWINCH)
    return 0;
  if (number >= PLAIT_SIGSTOP && number <= PLAIT_SIGTTOU)
    __plait_unsupported("a signal that stops the process");
  __plait_end_process(128 + number, "abort");
}

int pthread_kill(unsigned long thread, int number) {
  struct __plait_thread *block = (struct __plait_thread *)thread;
  int is_blocked;
  int done;
  __plait_atomic_begin();
  if (block == NULL || block != __plait_current) PLAIT_IN_LIFETIME(block);
  done = block->done;
  if (number <= 0 || number > 64) {
    __plait_atomic_end();
    /* glibc does not look at the number where the thread has ended. */
    if (number == 0 || (done && __plait_choose("whether a wrong signal is noticed", 2))) return 0;
    return EINVAL;
  }
  is_blocked = done || (block->blocked & PLAIT_MASK_OF(number)) != 0;
  if (is_blocked) block->sent = block->sent | PLAIT_MASK_OF(number);
  __plait_atomic_end();
  return __plait_arrive(number, is_blocked, block == __plait_current);
}

int raise(int number) {
  int error = pthread_kill(pthread_self(), number);
  if (error == 0) return 0;
  *__errno_location() = error;
  return -1;
}

/* To the process: any thread that does not block the signal gets it. */
int getpid(void);
int kill(int process, int number) {
  int is_open;
  int is_open_initially;
  if (number < 0 || number > 64) {
    *__errno_location() = EINVAL;
    return -1;
  }
  if (process <= 0 && number != 0)
    __plait_unsupported("a signal for a group of processes, to which this one may belong");
  if (process != getpid()) {
    if (!__plait_choose("whether kill fails", 2)) return 0;
    __plait_note_failure(1);
    return -1;
  }
  if (number == 0) return 0;
  __plait_atomic_begin();
  is_open = (__plait_open_signals & PLAIT_MASK_OF(number)) != 0;
  is_open_initially = (__plait_initially_blocked & PLAIT_MASK_OF(number)) == 0;
  if (!is_open_initially) __plait_sent = __plait_sent | PLAIT_MASK_OF(number);
  __plait_atomic_end();
  if (is_open && !is_open_initially)
    __plait_unsupported("a signal for the process that some thread may not block");
  return __plait_arrive(number, !is_open_initially, !is_open && __plait_self() == 1);
}
#else
int pthread_sigmask(int how, const struct __plait_signals *set, struct __plait_signals *old) {
  if (old != NULL) __plait_unsupported("to read a signal mask that no source file names");
  return 0;
}
int pthread_kill(unsigned long thread, int number) {
  __plait_unsupported("pthread_kill that none of the source files names");
  return 0;
}
int kill(int process, int number) {
  __plait_unsupported("kill that none of the source files names");
  return 0;
}
int raise(int number) {
  __plait_unsupported("raise that none of the source files names");
  return 0;
}
#endif

int sigprocmask(int how, const struct __plait_signals *set, struct __plait_signals *old) {
  int error = pthread_sigmask(how, set, old);
  if (error == 0) return 0;
  *__errno_location() = error;
  return -1;
}

/* Any of the signals, at any time: everybody can send one. With none in the set it waits for ever. */
static int __plait_any_signal(const struct __plait_signals *set) {
  __plait_mask_t mask = __plait_mask_in(set);
  int found = 1 + __plait_choose("signal", 64);
  __plait_assume((mask & PLAIT_MASK_OF(found)) != 0);
  return found;
}
int sigwait(const struct __plait_signals *set, int *number) {
  *number = __plait_any_signal(set);
  return 0;
}

/* What is told of the signal beside its number is not known. A handler of another one cannot
   interrupt these; the time of sigtimedwait can be over. */
#define PLAIT_INFORMATION_SIZE 128
static int __plait_take_signal(const struct __plait_signals *set, void *information) {
  int found = __plait_any_signal(set);
  if (information != NULL) {
    __plait_unknown_bytes(information, PLAIT_INFORMATION_SIZE);
    *(int *)information = found; /* si_signo */
  }
  return found;
}
int sigwaitinfo(const struct __plait_signals *set, void *information) {
  return __plait_take_signal(set, information);
}
int sigtimedwait(const struct __plait_signals *set, void *information,
                 const struct timespec *timeout) {
  PLAIT_TOUCH_OPTIONAL(timeout);
  if (__plait_choose("whether no signal comes in time", 2)) {
    *__errno_location() = EAGAIN;
    return -1;
  }
  return __plait_take_signal(set, information);
}
