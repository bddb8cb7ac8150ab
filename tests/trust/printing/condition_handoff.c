#include <pthread.h>
#include <stdio.h>
#ifndef JITTER
#define JITTER ((void)0)
#endif
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
int ready, value, waits;
void *consumer(void *unused) {
    pthread_mutex_lock(&lock);
    while (!ready) {
        waits = 1;
        pthread_cond_wait(&changed, &lock);
    }
    value *= 10;
    pthread_mutex_unlock(&lock);
    return NULL;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, consumer, NULL);
    JITTER;
    pthread_mutex_lock(&lock);
    value = 4;
    ready = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    value += 2;
    pthread_mutex_unlock(&lock);
    pthread_join(t, NULL);
    printf("value=%d waits=%d\n", value, waits);
    return 0;
}
