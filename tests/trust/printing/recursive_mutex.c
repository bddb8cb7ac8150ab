#include <pthread.h>
#include <stdio.h>
#ifndef JITTER
#define JITTER ((void)0)
#endif
pthread_mutex_t lock;
int depth, other;
static int descend(int n) {
    pthread_mutex_lock(&lock);
    depth++;
    JITTER;
    int result = n ? descend(n - 1) : depth;
    depth--;
    pthread_mutex_unlock(&lock);
    return result;
}
void *work(void *unused) {
    if (pthread_mutex_trylock(&lock) == 0) {
        other = 1 + depth;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}
int main(void) {
    pthread_t t;
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&lock, &attributes);
    pthread_create(&t, NULL, work, NULL);
    int result = descend(2);
    pthread_join(t, NULL);
    pthread_mutex_destroy(&lock);
    printf("result=%d other=%d\n", result, other);
    return 0;
}
