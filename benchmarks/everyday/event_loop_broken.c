#define BROKEN
#include "event_loop.c"
