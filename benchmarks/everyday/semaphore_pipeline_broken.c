#define BROKEN
#include "semaphore_pipeline.c"
