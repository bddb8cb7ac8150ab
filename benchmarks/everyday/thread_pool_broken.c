#define BROKEN
#include "thread_pool.c"
