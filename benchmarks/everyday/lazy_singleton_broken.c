#define BROKEN
#include "lazy_singleton.c"
