#ifndef PLAIT_ALLOCA_H
#define PLAIT_ALLOCA_H

#include <stddef.h>

#undef alloca
extern void *alloca(size_t);
#define alloca(size) __builtin_alloca(size)

#endif
