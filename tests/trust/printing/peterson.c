#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#ifndef JITTER
#define JITTER ((void)0)
#endif
atomic_int wants[2], turn;
volatile int x;
void *work(void *number) {
    long me = (long)number;
    wants[me] = 1;
    turn = (int)(1 - me);
    while (wants[1 - me] && turn == 1 - me) sched_yield();
    int old = x;
    JITTER;
    x = old * 2 + (int)me + 1;
    wants[me] = 0;
    return NULL;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, work, (void *)0L);
    pthread_create(&b, NULL, work, (void *)1L);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("x=%d\n", x);
    return 0;
}
