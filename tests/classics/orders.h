#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#ifndef ACQ
#define ACQ memory_order_acquire
#endif
#ifndef REL
#define REL memory_order_release
#endif
#define RLX memory_order_relaxed
