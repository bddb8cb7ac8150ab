/* Signals: none arrives but where sigwait waits for one, so what is blocked or ignored does not
   matter. Handlers could run at any time and are not supported. */
#include "plait.h"

#define PLAIT_WORDS (1024 / (8 * sizeof(unsigned long)))
struct __plait_signals {
  unsigned long words[PLAIT_WORDS];
};

void *signal(int number, void *handler) {
  if ((__UINTPTR_TYPE__)handler > 1) __plait_unsupported("signal handlers");
  if (number < 1 || number > 64 || number == 9 || number == 19) { /* SIGKILL, SIGSTOP */
    *__errno_location() = EINVAL;
    return (void *)-1;
  }
  if (__plait_choose("whether a signal was ignored before", 2)) return (void *)1;
  return NULL;
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

int pthread_sigmask(int how, const struct __plait_signals *set, struct __plait_signals *old) {
  if (old != NULL) __plait_unsupported("to read the signal mask");
  return 0;
}
int sigprocmask(int how, const struct __plait_signals *set, struct __plait_signals *old) {
  return pthread_sigmask(how, set, old);
}

/* Any of the signals, at any time; with none in the set it waits for ever. */
int sigwait(const struct __plait_signals *set, int *number) {
  int found = __VERIFIER_nondet_int();
  __plait_assume(found >= 1 && found <= 64);
  __plait_assume((*__plait_word((struct __plait_signals *)set, found) & __plait_bit(found)) != 0);
  *number = found;
  return 0;
}
