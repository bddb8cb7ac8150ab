/* What a hunted program shares with the rest of the world. Calls that may block wait until the
 * descriptor is ready, so that whoever has the turn never blocks; time is a logical clock, so that
 * nobody sleeps; a child of the process goes on without us.
 *
 * Functions named outside_NAME stand in for NAME in a hunt only. */
#define _GNU_SOURCE
#include "runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- time: a microsecond for each operation, and as long as somebody sleeps */

enum { SECOND = 1000000000, STEP = 1000 };
static uint64_t passed; /* nanoseconds in sleeps */

static uint64_t beginning(void) {
  static uint64_t seconds;
  if (seconds == 0) seconds = strtoull(setting("PLAIT_CLOCK", "1700000000"), NULL, 10);
  return seconds * SECOND;
}

uint64_t now(void) { return beginning() + passed + (is_forked() ? 0 : recorded()) * STEP; }

static int is_of_day(int clock) {
  return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
}

/* Clocks that begin with the machine begin with the run here. */
static uint64_t now_of(int clock) {
  return is_of_day(clock) ? now() : now() - beginning() + (uint64_t)1000 * SECOND;
}

static uint64_t in_nanoseconds(const struct timespec *time) {
  return (uint64_t)time->tv_sec * SECOND + (uint64_t)time->tv_nsec;
}

static void pass_time(uint64_t nanoseconds) { passed += nanoseconds; }

void pass_until(const struct timespec *deadline, int clock) {
  if (!is_hunt() || deadline == NULL) return;
  uint64_t end = in_nanoseconds(deadline), here = now_of(clock);
  if (end > here) pass_time(end - here);
}

/* Others may come first, however short the sleep is. */
static void sleep_for(const char *name, uint64_t nanoseconds, const void *pc) {
  uint64_t end = now() + nanoseconds;
  struct operation operation = {.kind = SYNC, .name = name, .size = 1, .is_atomic = 1, .pc = pc,
                                .waits_for = "", .is_patient = 1};
  point(&operation);
  if (end > now()) pass_time(end - now());
}

unsigned outside_sleep(unsigned seconds) {
  sleep_for("sleep", (uint64_t)seconds * SECOND, CALLER);
  return 0;
}
int outside_usleep(unsigned microseconds) {
  sleep_for("usleep", (uint64_t)microseconds * 1000, CALLER);
  return 0;
}
static int is_duration(const struct timespec *time) {
  return time->tv_sec >= 0 && time->tv_nsec >= 0 && time->tv_nsec < SECOND;
}
int outside_nanosleep(const struct timespec *time, struct timespec *left) {
  (void)left;
  if (!is_duration(time)) {
    errno = EINVAL;
    return -1;
  }
  sleep_for("nanosleep", in_nanoseconds(time), CALLER);
  return 0;
}
int outside_thrd_sleep(const struct timespec *time, struct timespec *left) {
  (void)left;
  if (!is_duration(time)) return -2;
  sleep_for("thrd_sleep", in_nanoseconds(time), CALLER);
  return 0;
}
int outside_clock_nanosleep(int clock, int flags, const struct timespec *time,
                            struct timespec *left) {
  (void)left;
  if (!is_duration(time)) return EINVAL;
  uint64_t length = in_nanoseconds(time), here = now_of(clock);
  if (flags & TIMER_ABSTIME) length = length > here ? length - here : 0;
  sleep_for("clock_nanosleep", length, CALLER);
  return 0;
}
int outside_clock_gettime(int clock, struct timespec *time) {
  if (clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID)
    return clock_gettime(clock, time);
  record_clock_read();
  uint64_t value = now_of(clock);
  *time = (struct timespec){(time_t)(value / SECOND), (long)(value % SECOND)};
  return 0;
}
int outside_timespec_get(struct timespec *time, int base) {
  outside_clock_gettime(CLOCK_REALTIME, time);
  return base;
}
int outside_gettimeofday(struct timeval *time, void *zone) {
  (void)zone;
  record_clock_read();
  uint64_t value = now();
  *time = (struct timeval){(time_t)(value / SECOND), (long)(value % SECOND / 1000)};
  return 0;
}
time_t outside_time(time_t *result) {
  record_clock_read();
  time_t value = (time_t)(now() / SECOND);
  if (result != NULL) *result = value;
  return value;
}
int outside_pthread_setname_np(pthread_t thread, const char *name) {
  (void)thread, (void)name;
  return 0;
}

/* --- descriptors */

/* Nobody can move before something outside happens. */
void wait_outside(void) {
  struct timespec moment = {0, 500000};
  nanosleep(&moment, NULL);
}

struct question {
  struct pollfd *polled;
  nfds_t count;
  int is_timed;
  pid_t child;
  int options;
};

static int is_ready(const struct operation *operation) {
  const struct question *question = operation->more;
  if (question->polled == NULL) {
    siginfo_t info = {0};
    id_t id = question->child > 0 ? (id_t)question->child : 0;
    int done = waitid(question->child > 0 ? P_PID : P_ALL, id, &info,
                      WEXITED | WNOHANG | WNOWAIT | (question->options & (WUNTRACED | WCONTINUED)));
    return done != 0 || info.si_pid != 0;
  }
  if (question->is_timed) return 1;
  struct pollfd copies[64];
  nfds_t count = question->count < 64 ? question->count : 64;
  memcpy(copies, question->polled, count * sizeof *copies);
  return poll(copies, count, 0) != 0;
}

static void wait_for(const char *name, const struct question *question, const void *pc) {
  struct operation operation = {.kind = SYNC, .name = name, .size = 1, .is_atomic = 1, .pc = pc,
                                .can_go = is_ready, .waits_for = "what is outside of the process",
                                .more = question, .is_outside = 1,
                                .is_patient = question->is_timed};
  point(&operation);
}

static void wait_for_descriptor(const char *name, int descriptor, short events, const void *pc) {
  struct pollfd polled = {descriptor, events, 0};
  struct question question = {&polled, 1, 0, 0, 0};
  if (!is_forked()) wait_for(name, &question, pc);
}

#define WAITING(type, name, parameters, arguments, events)      \
  type outside_##name parameters {                              \
    wait_for_descriptor(#name, descriptor, events, CALLER);     \
    return name arguments;                                      \
  }
WAITING(ssize_t, read, (int descriptor, void *bytes, size_t size), (descriptor, bytes, size), POLLIN)
WAITING(ssize_t, write, (int descriptor, const void *bytes, size_t size), (descriptor, bytes, size),
        POLLOUT)
WAITING(ssize_t, readv, (int descriptor, const struct iovec *parts, int count),
        (descriptor, parts, count), POLLIN)
WAITING(ssize_t, writev, (int descriptor, const struct iovec *parts, int count),
        (descriptor, parts, count), POLLOUT)
WAITING(ssize_t, pread, (int descriptor, void *bytes, size_t size, off_t at),
        (descriptor, bytes, size, at), POLLIN)
WAITING(ssize_t, pwrite, (int descriptor, const void *bytes, size_t size, off_t at),
        (descriptor, bytes, size, at), POLLOUT)
WAITING(ssize_t, pread64, (int descriptor, void *bytes, size_t size, off_t at),
        (descriptor, bytes, size, at), POLLIN)
WAITING(ssize_t, pwrite64, (int descriptor, const void *bytes, size_t size, off_t at),
        (descriptor, bytes, size, at), POLLOUT)
WAITING(ssize_t, recv, (int descriptor, void *bytes, size_t size, int flags),
        (descriptor, bytes, size, flags), POLLIN)
WAITING(ssize_t, recvfrom,
        (int descriptor, void *bytes, size_t size, int flags, struct sockaddr *from,
         socklen_t *length),
        (descriptor, bytes, size, flags, from, length), POLLIN)
WAITING(ssize_t, recvmsg, (int descriptor, struct msghdr *message, int flags),
        (descriptor, message, flags), POLLIN)
WAITING(ssize_t, send, (int descriptor, const void *bytes, size_t size, int flags),
        (descriptor, bytes, size, flags), POLLOUT)
WAITING(ssize_t, sendto,
        (int descriptor, const void *bytes, size_t size, int flags, const struct sockaddr *to,
         socklen_t length),
        (descriptor, bytes, size, flags, to, length), POLLOUT)
WAITING(ssize_t, sendmsg, (int descriptor, const struct msghdr *message, int flags),
        (descriptor, message, flags), POLLOUT)
WAITING(int, accept, (int descriptor, struct sockaddr *from, socklen_t *length),
        (descriptor, from, length), POLLIN)
WAITING(int, accept4, (int descriptor, struct sockaddr *from, socklen_t *length, int flags),
        (descriptor, from, length, flags), POLLIN)

/* It keeps the turn: on this machine somebody answers, or nobody does, at once. */
int outside_connect(int descriptor, const struct sockaddr *to, socklen_t length) {
  struct operation operation = {.kind = SYNC, .name = "connect", .size = 1, .is_atomic = 1,
                                .pc = CALLER, .waits_for = "", .is_outside = 1};
  if (!is_forked()) point(&operation);
  return connect(descriptor, to, length);
}

int outside_poll(struct pollfd *polled, nfds_t count, int timeout) {
  struct question question = {polled, count, timeout >= 0, 0, 0};
  if (count > 64) question.is_timed = 1;
  if (polled != NULL && !is_forked()) wait_for("poll", &question, CALLER);
  int result = poll(polled, count, 0);
  if (result == 0 && timeout > 0) pass_time((uint64_t)timeout * 1000000);
  return result;
}

int outside_select(int most, fd_set *in, fd_set *out, fd_set *other, struct timeval *timeout) {
  struct pollfd polled[64];
  nfds_t count = 0;
  for (int i = 0; i < most && i < FD_SETSIZE && count < 64; i++) {
    short events = 0;
    if (in != NULL && FD_ISSET(i, in)) events |= POLLIN;
    if (out != NULL && FD_ISSET(i, out)) events |= POLLOUT;
    if (other != NULL && FD_ISSET(i, other)) events |= POLLPRI;
    if (events != 0) polled[count++] = (struct pollfd){i, events, 0};
  }
  uint64_t length = timeout == NULL ? 0
                                    : (uint64_t)timeout->tv_sec * SECOND +
                                          (uint64_t)timeout->tv_usec * 1000;
  if (count == 0 && timeout != NULL) { /* a way to sleep */
    sleep_for("select", length, CALLER);
    return 0;
  }
  struct question question = {polled, count, timeout != NULL, 0, 0};
  if (!is_forked()) wait_for("select", &question, CALLER);
  struct timeval none = {0, 0};
  int result = select(most, in, out, other, &none);
  if (result == 0) pass_time(length);
  return result;
}

int outside_epoll_wait(int descriptor, struct epoll_event *events, int most, int timeout) {
  struct pollfd polled = {descriptor, POLLIN, 0};
  struct question question = {&polled, 1, timeout >= 0, 0, 0};
  if (!is_forked()) wait_for("epoll_wait", &question, CALLER);
  int result = epoll_wait(descriptor, events, most, 0);
  if (result == 0 && timeout > 0) pass_time((uint64_t)timeout * 1000000);
  return result;
}

static int is_signal_pending(const struct operation *operation) {
  sigset_t pending;
  if (sigpending(&pending) != 0) return 1;
  for (int i = 1; i < NSIG; i++)
    if (sigismember(operation->more, i) == 1 && sigismember(&pending, i) == 1) return 1;
  return 0;
}

int outside_sigwait(const sigset_t *set, int *number) {
  struct operation operation = {.kind = SYNC, .name = "sigwait", .size = 1, .is_atomic = 1,
                                .pc = CALLER, .can_go = is_signal_pending,
                                .waits_for = "a signal", .more = set, .is_outside = 1};
  if (!is_forked()) point(&operation);
  return sigwait(set, number);
}

/* What pthread_cleanup_push is made of in C. */
void outside___pthread_register_cancel(__pthread_unwind_buf_t *buffer) {
  myself()->has_cleanup++;
  __pthread_register_cancel(buffer);
}
void outside___pthread_unregister_cancel(__pthread_unwind_buf_t *buffer) {
  myself()->has_cleanup--;
  __pthread_unregister_cancel(buffer);
}

/* --- other processes */

pid_t outside_fork(void) {
  struct operation operation = {.kind = SYNC, .name = "fork", .size = 1, .is_atomic = 1,
                                .pc = CALLER, .waits_for = "", .is_outside = 1};
  point(&operation);
  pid_t child = fork();
  if (child == 0) {
    forget_others();
    forget_record();
  }
  return child;
}
pid_t outside_vfork(void) { return outside_fork(); }
pid_t outside_waitpid(pid_t child, int *status, int options) {
  struct question question = {NULL, 0, 0, child, options};
  if (!(options & WNOHANG) && !is_forked()) wait_for("waitpid", &question, CALLER);
  return waitpid(child, status, options);
}
pid_t outside_wait(int *status) {
  struct question question = {NULL, 0, 0, -1, 0};
  if (!is_forked()) wait_for("wait", &question, CALLER);
  return wait(status);
}

/* Another program takes this one's place: nothing of it is seen. */
static void before_exec(const char *path, const void *pc) {
  if (is_forked()) return;
  record_exec(path, place(pc));
}
int outside_execv(const char *path, char *const *arguments) {
  before_exec(path, CALLER);
  return execv(path, arguments);
}
int outside_execve(const char *path, char *const *arguments, char *const *environment) {
  before_exec(path, CALLER);
  return execve(path, arguments, environment);
}
int outside_execvp(const char *path, char *const *arguments) {
  before_exec(path, CALLER);
  return execvp(path, arguments);
}
static int exec_listed(const char *path, const char *first, va_list rest, int is_searched) {
  char *arguments[256] = {(char *)first};
  for (int i = 1; i < 255 && arguments[i - 1] != NULL; i++) arguments[i] = va_arg(rest, char *);
  return is_searched ? execvp(path, arguments) : execv(path, arguments);
}
int outside_execl(const char *path, const char *first, ...) {
  va_list rest;
  before_exec(path, CALLER);
  va_start(rest, first);
  int result = exec_listed(path, first, rest, 0);
  va_end(rest);
  return result;
}
int outside_execlp(const char *path, const char *first, ...) {
  va_list rest;
  before_exec(path, CALLER);
  va_start(rest, first);
  int result = exec_listed(path, first, rest, 1);
  va_end(rest);
  return result;
}

/* The time of a run is kept by whoever has started it; the program's alarm is its own. */
