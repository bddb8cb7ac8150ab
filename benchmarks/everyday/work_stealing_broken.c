#define BROKEN
#include "work_stealing.c"
