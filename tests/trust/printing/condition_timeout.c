#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#ifndef JITTER
#define JITTER ((void)0)
#endif
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
int ready, timed_out;
void *waiter(void *unused) {
    struct timespec when;
    clock_gettime(CLOCK_REALTIME, &when);
    when.tv_nsec += 20000;
    if (when.tv_nsec >= 1000000000) {
        when.tv_nsec -= 1000000000;
        when.tv_sec++;
    }
    pthread_mutex_lock(&lock);
    while (!ready && !timed_out)
        if (pthread_cond_timedwait(&changed, &lock, &when) == ETIMEDOUT) timed_out = 1 + ready;
    pthread_mutex_unlock(&lock);
    return NULL;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, waiter, NULL);
    JITTER;
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    pthread_join(t, NULL);
    printf("timed_out=%d\n", timed_out);
    return 0;
}
