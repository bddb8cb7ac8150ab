#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#ifndef JITTER
#define JITTER ((void)0)
#endif
atomic_flag lock = ATOMIC_FLAG_INIT;
int gate, x, late;
void *work(void *number) {
    if (__sync_lock_test_and_set(&gate, 1)) __atomic_store_n(&late, (int)(long)number, __ATOMIC_RELEASE);
    while (atomic_flag_test_and_set(&lock)) sched_yield();
    x = x * 2 + (int)(long)number;
    atomic_flag_clear(&lock);
    return NULL;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, work, (void *)1L);
    JITTER;
    pthread_create(&b, NULL, work, (void *)2L);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("x=%d late=%d gate=%d\n", x, late, gate);
    return 0;
}
