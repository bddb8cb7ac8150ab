#define BROKEN
#include "barrier_phases.c"
