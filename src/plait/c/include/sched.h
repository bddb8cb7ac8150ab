#ifndef PLAIT_SCHED_H
#define PLAIT_SCHED_H

#include <bits/timespec.h>
#include <sys/types.h>

#define SCHED_OTHER 0
#define SCHED_FIFO 1
#define SCHED_RR 2
#define SCHED_BATCH 3
#define SCHED_IDLE 5

struct sched_param {
  int sched_priority;
};
typedef struct {
  unsigned long __bits[1024 / (8 * sizeof(unsigned long))];
} cpu_set_t;
#define CPU_SETSIZE 1024
#define CPU_ZERO(set) ((void)(*(set) = (cpu_set_t){{0}}))
#define __CPU_WORD(cpu) ((cpu) / (8 * sizeof(unsigned long)))
#define __CPU_BIT(cpu) (1UL << ((cpu) % (8 * sizeof(unsigned long))))
#define CPU_SET(cpu, set) ((void)((set)->__bits[__CPU_WORD(cpu)] |= __CPU_BIT(cpu)))
#define CPU_CLR(cpu, set) ((void)((set)->__bits[__CPU_WORD(cpu)] &= ~__CPU_BIT(cpu)))
#define CPU_ISSET(cpu, set) (((set)->__bits[__CPU_WORD(cpu)] & __CPU_BIT(cpu)) != 0)

extern int sched_yield(void);
extern int sched_get_priority_max(int);
extern int sched_get_priority_min(int);
extern int sched_getscheduler(pid_t);
extern int sched_setscheduler(pid_t, int, const struct sched_param *);
extern int sched_getparam(pid_t, struct sched_param *);
extern int sched_setparam(pid_t, const struct sched_param *);
extern int sched_rr_get_interval(pid_t, struct timespec *);
extern int sched_setaffinity(pid_t, size_t, const cpu_set_t *);
extern int sched_getaffinity(pid_t, size_t, cpu_set_t *);
extern int sched_getcpu(void);

#endif
