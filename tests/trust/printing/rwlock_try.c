#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#ifndef JITTER
#define JITTER ((void)0)
#endif
pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
int read_result, write_result;
void *reader(void *unused) {
    int result = pthread_rwlock_tryrdlock(&lock);
    read_result = result == EBUSY ? 2 : result == 0;
    JITTER;
    if (result == 0) pthread_rwlock_unlock(&lock);
    return NULL;
}
void *writer(void *unused) {
    int result = pthread_rwlock_trywrlock(&lock);
    write_result = result == EBUSY ? 2 : result == 0;
    JITTER;
    if (result == 0) pthread_rwlock_unlock(&lock);
    return NULL;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, reader, NULL);
    pthread_create(&b, NULL, writer, NULL);
    JITTER;
    pthread_rwlock_rdlock(&lock);
    JITTER;
    pthread_rwlock_unlock(&lock);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("read=%d write=%d\n", read_result, write_result);
    return 0;
}
