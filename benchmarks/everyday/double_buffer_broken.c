#define BROKEN
#include "double_buffer.c"
