/* errno: one int for each thread. */
#include "plait.h"

static _Thread_local int __plait_errno;
int *__errno_location(void) { return &__plait_errno; }
