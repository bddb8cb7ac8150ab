#ifndef PLAIT_SIGNAL_H
#define PLAIT_SIGNAL_H

#include <bits/timespec.h>
#include <sys/types.h>

typedef int sig_atomic_t;
typedef struct {
  unsigned long __val[1024 / (8 * sizeof(unsigned long))];
} sigset_t;
typedef void (*sighandler_t)(int);
union sigval {
  int sival_int;
  void *sival_ptr;
};
typedef struct {
  int si_signo;
  int si_errno;
  int si_code;
  int __pad[29];
} __attribute__((__aligned__(__alignof__(void *)))) siginfo_t;
struct sigaction {
  union {
    void (*sa_handler)(int);
    void (*sa_sigaction)(int, siginfo_t *, void *);
  } __sigaction_handler;
  sigset_t sa_mask;
  int sa_flags;
  void (*sa_restorer)(void);
};
#define sa_handler __sigaction_handler.sa_handler
#define sa_sigaction __sigaction_handler.sa_sigaction

#define SIG_ERR ((void (*)(int)) - 1)
#define SIG_DFL ((void (*)(int))0)
#define SIG_IGN ((void (*)(int))1)
#define SIG_BLOCK 0
#define SIG_UNBLOCK 1
#define SIG_SETMASK 2
#define SA_NOCLDSTOP 1
#define SA_SIGINFO 4
#define SA_RESTART 0x10000000
#define SA_NODEFER 0x40000000
#define SA_RESETHAND 0x80000000
#define SIGHUP 1
#define SIGINT 2
#define SIGQUIT 3
#define SIGILL 4
#define SIGTRAP 5
#define SIGABRT 6
#define SIGBUS 7
#define SIGFPE 8
#define SIGKILL 9
#define SIGUSR1 10
#define SIGSEGV 11
#define SIGUSR2 12
#define SIGPIPE 13
#define SIGALRM 14
#define SIGTERM 15
#define SIGCHLD 17
#define SIGCONT 18
#define SIGSTOP 19
#define SIGTSTP 20

extern sighandler_t signal(int, sighandler_t);
extern int sigaction(int, const struct sigaction *, struct sigaction *);
extern int sigprocmask(int, const sigset_t *, sigset_t *);
extern int pthread_sigmask(int, const sigset_t *, sigset_t *);
extern int sigemptyset(sigset_t *);
extern int sigfillset(sigset_t *);
extern int sigaddset(sigset_t *, int);
extern int sigdelset(sigset_t *, int);
extern int sigismember(const sigset_t *, int);
extern int sigsuspend(const sigset_t *);
extern int sigwait(const sigset_t *, int *);
extern int raise(int);
extern int kill(pid_t, int);
extern int pthread_kill(pthread_t, int);

#endif
