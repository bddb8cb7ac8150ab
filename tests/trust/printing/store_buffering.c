#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#ifndef JITTER
#define JITTER ((void)0)
#endif
atomic_int x, y;
int r1, r2;
void *one(void *unused) {
    atomic_store(&x, 1);
    JITTER;
    r1 = atomic_load(&y);
    return NULL;
}
void *two(void *unused) {
    atomic_store(&y, 1);
    JITTER;
    r2 = atomic_load(&x);
    return NULL;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, one, NULL);
    pthread_create(&b, NULL, two, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("r1=%d r2=%d\n", r1, r2);
    return 0;
}
