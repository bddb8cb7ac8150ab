#define BROKEN
#include "rw_cache.c"
