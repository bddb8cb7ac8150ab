#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#ifndef JITTER
#define JITTER ((void)0)
#endif
atomic_int x, y;
int r[4];
void *set(void *place) {
    JITTER;
    atomic_store((atomic_int *)place, 1);
    return NULL;
}
void *read_xy(void *unused) {
    r[0] = x;
    JITTER;
    r[1] = y;
    return NULL;
}
int main(void) {
    pthread_t t[3];
    pthread_create(&t[0], NULL, set, &x);
    pthread_create(&t[1], NULL, set, &y);
    pthread_create(&t[2], NULL, read_xy, NULL);
    r[2] = y;
    JITTER;
    r[3] = x;
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    printf("%d%d %d%d\n", r[0], r[1], r[2], r[3]);
    return 0;
}
