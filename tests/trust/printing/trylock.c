#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#ifndef JITTER
#define JITTER ((void)0)
#endif
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int busy[2], x;
void *work(void *place) {
    int result = pthread_mutex_trylock(&lock);
    *(int *)place = result == EBUSY;
    if (result == 0) {
        x++;
        JITTER;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, work, &busy[0]);
    pthread_create(&b, NULL, work, &busy[1]);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("busy=%d,%d x=%d\n", busy[0], busy[1], x);
    return 0;
}
