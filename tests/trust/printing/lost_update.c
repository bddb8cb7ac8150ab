#include <pthread.h>
#include <stdio.h>
#ifndef JITTER
#define JITTER ((void)0)
#endif
volatile int x;
void *add(void *unused) {
    for (int i = 0; i < 2; i++) {
        int old = x;
        JITTER;
        x = old + 1;
    }
    return NULL;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, add, NULL);
    pthread_create(&b, NULL, add, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("x=%d\n", x);
    return 0;
}
