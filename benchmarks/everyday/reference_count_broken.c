#define BROKEN
#include "reference_count.c"
