#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#ifndef JITTER
#define JITTER ((void)0)
#endif
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int result, x;
void *work(void *unused) {
    struct timespec when;
    clock_gettime(CLOCK_REALTIME, &when);
    result = pthread_mutex_timedlock(&lock, &when);
    if (result == 0) {
        x = x * 2 + 1;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, work, NULL);
    pthread_mutex_lock(&lock);
    x += 2;
    JITTER;
    x += 2;
    pthread_mutex_unlock(&lock);
    pthread_join(t, NULL);
    printf("timeout=%d x=%d\n", result == ETIMEDOUT, x);
    return 0;
}
