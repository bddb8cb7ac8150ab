#ifndef PLAIT_SYS_TIME_H
#define PLAIT_SYS_TIME_H

#include <bits/timespec.h>

struct timezone {
  int tz_minuteswest;
  int tz_dsttime;
};
extern int gettimeofday(struct timeval *, void *);
extern int settimeofday(const struct timeval *, const struct timezone *);
#define timerclear(t) ((t)->tv_sec = (t)->tv_usec = 0)
#define timerisset(t) ((t)->tv_sec || (t)->tv_usec)

#endif
