#include <pthread.h>
#include <stdio.h>
#ifndef JITTER
#define JITTER ((void)0)
#endif
_Thread_local int mine = 5;
volatile int shared;
void *work(void *number) {
    mine += (int)(long)number;
    int old = shared;
    JITTER;
    shared = old + mine;
    return (void *)(long)mine;
}
int main(void) {
    pthread_t a, b;
    void *x, *y;
    mine = 1;
    pthread_create(&a, NULL, work, (void *)10L);
    pthread_create(&b, NULL, work, (void *)20L);
    pthread_join(a, &x);
    pthread_join(b, &y);
    printf("mine=%d x=%ld y=%ld shared=%d\n", mine, (long)x, (long)y, shared);
    return 0;
}
