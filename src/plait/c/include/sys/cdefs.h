#ifndef PLAIT_SYS_CDEFS_H
#define PLAIT_SYS_CDEFS_H

#include <features.h>

#endif
