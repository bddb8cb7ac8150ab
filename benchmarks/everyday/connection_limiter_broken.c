#define BROKEN
#include "connection_limiter.c"
