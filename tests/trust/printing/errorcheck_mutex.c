#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#ifndef JITTER
#define JITTER ((void)0)
#endif
pthread_mutex_t lock;
int other;
void *work(void *unused) {
    int result = pthread_mutex_unlock(&lock);
    other = result == EPERM ? 1 : 2;
    return NULL;
}
int main(void) {
    pthread_t t;
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&lock, &attributes);
    pthread_create(&t, NULL, work, NULL);
    int first = pthread_mutex_lock(&lock);
    int again = pthread_mutex_lock(&lock) == EDEADLK;
    JITTER;
    int done = pthread_mutex_unlock(&lock);
    int not_held = pthread_mutex_unlock(&lock) == EPERM;
    pthread_join(t, NULL);
    printf("%d %d %d %d other=%d\n", first, again, done, not_held, other);
    return 0;
}
