#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#ifndef JITTER
#define JITTER ((void)0)
#endif
atomic_int owner;
long plain;
int won[2], saw[2];
void *work(void *number) {
    long me = (long)number;
    int expected = 0;
    won[me] = atomic_compare_exchange_strong(&owner, &expected, (int)me + 1);
    saw[me] = expected;
    JITTER;
    if (__sync_bool_compare_and_swap(&plain, me, me + 1)) won[me] += 10;
    return NULL;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, work, (void *)0L);
    pthread_create(&b, NULL, work, (void *)1L);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("owner=%d won=%d,%d saw=%d,%d plain=%ld\n", owner, won[0], won[1], saw[0], saw[1], plain);
    return 0;
}
