#ifndef PLAIT_MEMORY_H
#define PLAIT_MEMORY_H

#include <string.h>

#endif
