#define BROKEN
#include "hash_table.c"
