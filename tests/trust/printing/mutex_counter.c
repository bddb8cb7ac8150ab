#include <pthread.h>
#include <stdio.h>
#ifndef JITTER
#define JITTER ((void)0)
#endif
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int x, first;
void *add(void *number) {
    pthread_mutex_lock(&lock);
    if (!first) first = (int)(long)number;
    int old = x;
    JITTER;
    x = old * 2 + (int)(long)number;
    pthread_mutex_unlock(&lock);
    return NULL;
}
int main(void) {
    pthread_t t[3];
    for (long i = 0; i < 3; i++) pthread_create(&t[i], NULL, add, (void *)(i + 1));
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    printf("first=%d x=%d\n", first, x);
    return 0;
}
