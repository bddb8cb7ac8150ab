#define BROKEN
#include "mpmc_queue.c"
