#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#ifndef JITTER
#define JITTER ((void)0)
#endif
_Atomic int counter;
static void leave(int value) { pthread_exit((void *)(long)(value + 100)); }
void *returns(void *argument) { return (void *)((long)argument + counter++); }
void *exits(void *argument) {
    JITTER;
    leave((int)(long)argument + counter++);
    return NULL;
}
int main(void) {
    pthread_t a, b;
    void *x, *y;
    pthread_create(&a, NULL, returns, (void *)10L);
    pthread_create(&b, NULL, exits, (void *)20L);
    pthread_join(b, &y);
    pthread_join(a, &x);
    printf("x=%ld y=%ld\n", (long)x, (long)y);
    return 0;
}
