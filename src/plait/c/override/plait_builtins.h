/* Forced into every file: compiler builtins that libclang's C interface does not show by name. */
#ifndef PLAIT_BUILTINS_H
#define PLAIT_BUILTINS_H

#include "plait_atomics.h"

/* libclang shows the operand of a __typeof__ inside as if it were a value; sizeof is a constant. */
#define __builtin_types_compatible_p(...) \
  ((int)sizeof(char[1 + __builtin_types_compatible_p(__VA_ARGS__)]) - 1)

/* A variadic function finds its arguments in a block, each aligned to 8 bytes; a va_list holds the
 * address of the next one. __builtin_va_list is an array on x86-64 and a pointer on i386. */
char *__plait_varargs(void);
#ifdef __x86_64__
#define __PLAIT_VA_LIST(ap) ((char **)(ap))
#else
#define __PLAIT_VA_LIST(ap) ((char **)&(ap))
#endif
#define __PLAIT_VA_SIZE(type) ((sizeof(type) + 7) & ~(__SIZE_TYPE__)7)
#define __builtin_va_start(ap, last) ((void)(*__PLAIT_VA_LIST(ap) = __plait_varargs()))
#define __builtin_stdarg_start(ap, last) __builtin_va_start(ap, last)
#define __builtin_va_end(ap) ((void)__PLAIT_VA_LIST(ap))
#define __builtin_va_copy(to, from) ((void)(*__PLAIT_VA_LIST(to) = *__PLAIT_VA_LIST(from)))
#define __builtin_va_arg(ap, type)                                      \
  (*(__typeof__(type) *)((*__PLAIT_VA_LIST(ap) += __PLAIT_VA_SIZE(type)) - __PLAIT_VA_SIZE(type)))

#endif
