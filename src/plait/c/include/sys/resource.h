#ifndef PLAIT_SYS_RESOURCE_H
#define PLAIT_SYS_RESOURCE_H

#include <sys/time.h>

#define RUSAGE_SELF 0
#define RLIMIT_STACK 3
#define RLIMIT_NOFILE 7
typedef unsigned long rlim_t;
struct rlimit {
  rlim_t rlim_cur;
  rlim_t rlim_max;
};
struct rusage {
  struct timeval ru_utime;
  struct timeval ru_stime;
  long __fields[14];
};
extern int getrusage(int, struct rusage *);
extern int getrlimit(int, struct rlimit *);
extern int setrlimit(int, const struct rlimit *);

#endif
