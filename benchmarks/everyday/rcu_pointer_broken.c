#define BROKEN
#include "rcu_pointer.c"
