#ifndef PLAIT_STDDEF_H
#define PLAIT_STDDEF_H

typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef __SIZE_TYPE__ size_t;
typedef __WCHAR_TYPE__ wchar_t;
typedef struct {
  long long __ll __attribute__((__aligned__(__alignof__(long long))));
  long double __ld __attribute__((__aligned__(__alignof__(long double))));
} max_align_t;

#ifndef NULL
#define NULL ((void *)0)
#endif
#ifndef offsetof
#define offsetof(type, member) __builtin_offsetof(type, member)
#endif

#endif
