#include <pthread.h>
#include <stdio.h>
#ifndef JITTER
#define JITTER ((void)0)
#endif
pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
int x, y, seen[2];
void *reader(void *place) {
    pthread_rwlock_rdlock(&lock);
    int first = x;
    JITTER;
    *(int *)place = first * 10 + y;
    pthread_rwlock_unlock(&lock);
    return NULL;
}
void *writer(void *unused) {
    for (int i = 0; i < 2; i++) {
        pthread_rwlock_wrlock(&lock);
        x++;
        JITTER;
        y++;
        pthread_rwlock_unlock(&lock);
    }
    return NULL;
}
int main(void) {
    pthread_t a, b, c;
    pthread_create(&a, NULL, reader, &seen[0]);
    pthread_create(&b, NULL, writer, NULL);
    pthread_create(&c, NULL, reader, &seen[1]);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    printf("seen=%d,%d\n", seen[0], seen[1]);
    return 0;
}
