#ifndef PLAIT_SYS_TYPES_H
#define PLAIT_SYS_TYPES_H

#include <stddef.h>
#include <stdint.h>

typedef __PTRDIFF_TYPE__ ssize_t;
typedef int pid_t;
typedef unsigned int uid_t;
typedef unsigned int gid_t;
typedef unsigned int id_t;
typedef unsigned int mode_t;
typedef long off_t;
typedef long long loff_t;
typedef long long off64_t;
typedef unsigned long long dev_t;
typedef unsigned long ino_t;
typedef long blksize_t;
typedef long blkcnt_t;
#ifdef __LP64__
typedef unsigned long nlink_t;
#else
typedef unsigned int nlink_t;
#endif
typedef long time_t;
typedef long clock_t;
typedef long suseconds_t;
typedef unsigned int useconds_t;
typedef int clockid_t;
typedef void *timer_t;
typedef int key_t;
typedef char *caddr_t;
typedef unsigned char u_char;
typedef unsigned short u_short;
typedef unsigned int u_int;
typedef unsigned long u_long;
typedef unsigned int uint;
typedef unsigned short ushort;
typedef unsigned long ulong;
typedef __UINT8_TYPE__ u_int8_t;
typedef __UINT16_TYPE__ u_int16_t;
typedef __UINT32_TYPE__ u_int32_t;
typedef __UINT64_TYPE__ u_int64_t;
#include <bits/pthreadtypes.h>

#endif
