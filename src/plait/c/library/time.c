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
/* Linux has the clocks 0 to 7 and 11; 8 and 9 where there is hardware for them; and those of processes
   and threads, which are negative. */
static int __plait_has_no_clock(int clock) {
  if ((clock >= 0 && clock <= 7) || clock == 11 || !__plait_choose("failure of a clock", 2)) return 0;
  *__errno_location() = EINVAL;
  return 1;
}

int clock_gettime(int clock, struct timespec *result) {
  static struct timespec last[CLOCK_BOOTTIME + 1];
  long seconds;
  long nanoseconds;
  if (__plait_has_no_clock(clock)) return -1;
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
  if (__plait_has_no_clock(clock)) return -1;
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
static int __plait_is_no_time(const struct timespec *time) {
  return time->tv_sec < 0 || time->tv_nsec < 0 || time->tv_nsec >= 1000000000;
}
int nanosleep(const struct timespec *time, struct timespec *left) {
  if (!__plait_is_no_time(time)) return 0;
  *__errno_location() = EINVAL;
  return -1;
}
int clock_nanosleep(int clock, int flags, const struct timespec *time, struct timespec *left) {
  return __plait_is_no_time(time) ? EINVAL : 0;
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

/* Clock ticks, processors and pages of memory are any number from 1 on; everything else may also be
   unlimited or unknown. */
enum { SC_CLK_TCK = 2, SC_PAGESIZE = 30, SC_NPROCESSORS_CONF = 83, SC_PHYS_PAGES = 85 };
long sysconf(int name) {
  long value;
  if (name == SC_PAGESIZE) return 4096;
  value = __VERIFIER_nondet_long();
  __plait_assume(value >= -1);
  if (name == SC_CLK_TCK || (name >= SC_NPROCESSORS_CONF && name <= SC_PHYS_PAGES))
    __plait_assume(value >= 1);
  return value;
}

/* Calendar time: any that has the form of one. The zone is not known, so that it has no value. */
struct __plait_tm {
  int second;
  int minute;
  int hour;
  int day;
  int month;
  int year;
  int weekday;
  int yearday;
  int saving;
  long offset;
  const char *zone;
};
static int __plait_between(int low, int high) {
  int value = __VERIFIER_nondet_int();
  __plait_assume(value >= low && value <= high);
  return value;
}
static void __plait_any_date(struct __plait_tm *result) {
  const char *unknown[1];
  result->second = __plait_between(0, 60);
  result->minute = __plait_between(0, 59);
  result->hour = __plait_between(0, 23);
  result->day = __plait_between(1, 31);
  result->month = __plait_between(0, 11);
  result->year = __VERIFIER_nondet_int();
  result->weekday = __plait_between(0, 6);
  result->yearday = __plait_between(0, 365);
  result->saving = __plait_between(-1, 1);
  result->offset = __VERIFIER_nondet_long();
  result->zone = unknown[0];
}
struct __plait_tm *localtime_r(const long *time, struct __plait_tm *result) {
  PLAIT_TOUCH(time);
  if (__plait_choose("whether there is no such date", 2)) {
    *__errno_location() = EOVERFLOW;
    return NULL;
  }
  __plait_any_date(result);
  return result;
}
struct __plait_tm *gmtime_r(const long *time, struct __plait_tm *result) {
  return localtime_r(time, result);
}
/* These share their results: threads that call them race. */
static struct __plait_tm __plait_date;
struct __plait_tm *localtime(const long *time) { return localtime_r(time, &__plait_date); }
struct __plait_tm *gmtime(const long *time) { return localtime_r(time, &__plait_date); }
long mktime(struct __plait_tm *date) {
  __plait_read_bytes(date, sizeof(struct __plait_tm));
  __plait_any_date(date);
  return __VERIFIER_nondet_long();
}
long timegm(struct __plait_tm *date) { return mktime(date); }

/* 25 characters, the last one a line feed. */
#define PLAIT_DATE_SIZE 26
static char __plait_date_text[PLAIT_DATE_SIZE];
static char *__plait_any_date_text(char *text) {
  int at;
  for (at = 0; at < PLAIT_DATE_SIZE - 2; at = at + 1) {
    unsigned char c = __VERIFIER_nondet_uchar();
    __plait_assume(c >= ' ' && c < 127);
    text[at] = (char)c;
  }
  text[at] = '\n';
  text[at + 1] = 0;
  return text;
}
char *ctime_r(const long *time, char *text) {
  PLAIT_TOUCH(time);
  return __plait_any_date_text(text);
}
char *asctime_r(const struct __plait_tm *date, char *text) {
  __plait_read_bytes(date, sizeof(struct __plait_tm));
  return __plait_any_date_text(text);
}
/* Null where the date has no such text (a year of five digits). */
static int __plait_has_no_text(void) {
  if (!__plait_choose("whether a date has no text", 2)) return 0;
  __plait_note_failure(1);
  return 1;
}
char *ctime(const long *time) {
  PLAIT_TOUCH(time);
  return __plait_has_no_text() ? NULL : __plait_any_date_text(__plait_date_text);
}
char *asctime(const struct __plait_tm *date) {
  __plait_read_bytes(date, sizeof(struct __plait_tm));
  return __plait_has_no_text() ? NULL : __plait_any_date_text(__plait_date_text);
}

/* 0 where the text does not fit, else its length. */
size_t strftime(char *text, size_t size, const char *format, const struct __plait_tm *date) {
  __plait_read_text(format);
  __plait_read_bytes(date, sizeof(struct __plait_tm));
  __plait_unknown_text(text, size);
  if (size == 0 || __plait_choose("whether the text of a date does not fit", 2)) return 0;
  return strlen(text);
}
