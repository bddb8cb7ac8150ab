#define BROKEN
#include "futures.c"
