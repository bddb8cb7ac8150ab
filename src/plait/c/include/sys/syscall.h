#ifndef PLAIT_SYS_SYSCALL_H
#define PLAIT_SYS_SYSCALL_H

#ifdef __LP64__
#define SYS_gettid 186
#define SYS_futex 202
#else
#define SYS_gettid 224
#define SYS_futex 240
#endif
#define __NR_gettid SYS_gettid
#define __NR_futex SYS_futex

#endif
