#ifndef PLAIT_BITS_PTHREADTYPES_H
#define PLAIT_BITS_PTHREADTYPES_H

/* Sizes, alignment and the places that static initialisers write are glibc's for x86. */
typedef unsigned long pthread_t;
typedef unsigned int pthread_key_t;
typedef int pthread_once_t;
typedef volatile int pthread_spinlock_t;

#ifdef __LP64__
typedef union { char __size[56]; long __align; } pthread_attr_t;
typedef union { char __size[56]; long __align; } pthread_rwlock_t;
typedef union { char __size[32]; long __align; } pthread_barrier_t;
struct __pthread_mutex_s {
  int __lock;
  unsigned int __count;
  int __owner;
  unsigned int __nusers;
  int __kind;
};
typedef union { struct __pthread_mutex_s __data; char __size[40]; long __align; } pthread_mutex_t;
#else
typedef union { char __size[36]; long __align; } pthread_attr_t;
typedef union { char __size[32]; long __align; } pthread_rwlock_t;
typedef union { char __size[20]; long __align; } pthread_barrier_t;
struct __pthread_mutex_s {
  int __lock;
  unsigned int __count;
  int __owner;
  int __kind;
  unsigned int __nusers;
};
typedef union { struct __pthread_mutex_s __data; char __size[24]; long __align; } pthread_mutex_t;
#endif
typedef union { char __size[48]; long long __align; } pthread_cond_t;
typedef union { char __size[4]; int __align; } pthread_mutexattr_t;
typedef union { char __size[4]; int __align; } pthread_condattr_t;
typedef union { char __size[8]; long __align; } pthread_rwlockattr_t;
typedef union { char __size[4]; int __align; } pthread_barrierattr_t;

#endif
