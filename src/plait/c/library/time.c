/* Time, sleep and the process: clocks show any time (those that cannot be set never go back),
   sleeping takes none. */
#include "plait.h"

struct __plait_timeval {
  long tv_sec;
  long tv_usec;
};

static long __plait_below(long limit) {
  long value = __VERIFIER_nondet_long();
  __plait_assume(value >= 0 && value < limit);
  return value;
}
static long __plait_seconds(void) {
  long value = __VERIFIER_nondet_long();
  __plait_assume(value >= 0);
  return value;
}

long time(long *result) {
  long now = __plait_seconds();
  if (result != NULL) *result = now;
  return now;
}
/* Time that the process has used; -1 if that is not known. */
long clock(void) {
  static long last;
  long now;
  __plait_atomic_begin();
  now = __VERIFIER_nondet_long();
  __plait_assume(now == -1 || now >= last);
  if (now != -1) last = now;
  __plait_atomic_end();
  return now;
}
double difftime(long one, long other) { return (double)one - (double)other; }
enum {
  CLOCK_MONOTONIC = 1,
  CLOCK_PROCESS_CPUTIME_ID = 2,
  CLOCK_MONOTONIC_RAW = 4,
  CLOCK_MONOTONIC_COARSE = 6,
  CLOCK_BOOTTIME = 7
};
int clock_gettime(int clock, struct timespec *result) {
  static struct timespec last[CLOCK_BOOTTIME + 1];
  long seconds;
  long nanoseconds;
  if (clock == CLOCK_MONOTONIC || clock == CLOCK_PROCESS_CPUTIME_ID ||
      clock == CLOCK_MONOTONIC_RAW || clock == CLOCK_MONOTONIC_COARSE || clock == CLOCK_BOOTTIME) {
    __plait_atomic_begin();
    seconds = __plait_seconds();
    nanoseconds = __plait_below(1000000000);
    __plait_assume(seconds > last[clock].tv_sec ||
                   (seconds == last[clock].tv_sec && nanoseconds >= last[clock].tv_nsec));
    last[clock].tv_sec = seconds;
    last[clock].tv_nsec = nanoseconds;
    __plait_atomic_end();
  } else {
    seconds = __plait_seconds();
    nanoseconds = __plait_below(1000000000);
  }
  result->tv_sec = seconds;
  result->tv_nsec = nanoseconds;
  return 0;
}
int clock_getres(int clock, struct timespec *result) {
  if (result != NULL) {
    result->tv_sec = 0;
    result->tv_nsec = 1;
  }
  return 0;
}
int timespec_get(struct timespec *result, int base) {
  clock_gettime(0, result);
  return base;
}
int gettimeofday(struct __plait_timeval *result, void *zone) {
  if (result != NULL) {
    result->tv_sec = __plait_seconds();
    result->tv_usec = __plait_below(1000000);
  }
  return 0;
}

/* No signals, so no sleep is interrupted. */
unsigned int sleep(unsigned int seconds) { return 0; }
int usleep(unsigned int microseconds) { return 0; }
int nanosleep(const struct timespec *time, struct timespec *left) { return 0; }
int clock_nanosleep(int clock, int flags, const struct timespec *time, struct timespec *left) {
  return 0;
}
int sched_yield(void) { return 0; }
int sched_get_priority_max(int policy) { return policy == 1 || policy == 2 ? 99 : 0; }
int sched_get_priority_min(int policy) { return policy == 1 || policy == 2 ? 1 : 0; }

static int __plait_identity(void) {
  static int number;
  int result;
  __plait_atomic_begin();
  if (number == 0) {
    number = __VERIFIER_nondet_int();
    __plait_assume(number > 1);
  }
  result = number;
  __plait_atomic_end();
  return result;
}
int getpid(void) { return __plait_identity(); }
int getpagesize(void) { return 4096; }

/* Ask for a number of processors, and it is any from 1 on. */
long sysconf(int name) {
  long value;
  if (name == 30) return 4096;
  value = __VERIFIER_nondet_long();
  __plait_assume(value >= 1);
  return value;
}
