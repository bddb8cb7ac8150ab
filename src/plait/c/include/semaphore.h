#ifndef PLAIT_SEMAPHORE_H
#define PLAIT_SEMAPHORE_H

#include <bits/timespec.h>
#include <sys/types.h>

#ifdef __LP64__
typedef union { char __size[32]; long __align; } sem_t;
#else
typedef union { char __size[16]; long __align; } sem_t;
#endif
#define SEM_FAILED ((sem_t *)0)
#ifndef SEM_VALUE_MAX
#define SEM_VALUE_MAX 2147483647
#endif

extern int sem_init(sem_t *, int, unsigned int);
extern int sem_destroy(sem_t *);
extern int sem_wait(sem_t *);
extern int sem_trywait(sem_t *);
extern int sem_timedwait(sem_t *, const struct timespec *);
extern int sem_clockwait(sem_t *, clockid_t, const struct timespec *);
extern int sem_post(sem_t *);
extern int sem_getvalue(sem_t *, int *);
extern sem_t *sem_open(const char *, int, ...);
extern int sem_close(sem_t *);
extern int sem_unlink(const char *);

#endif
