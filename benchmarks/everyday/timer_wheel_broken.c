#define BROKEN
#include "timer_wheel.c"
