#include <pthread.h>
#include <stdio.h>
#ifndef JITTER
#define JITTER ((void)0)
#endif
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t space = PTHREAD_COND_INITIALIZER, items = PTHREAD_COND_INITIALIZER;
int queue[1], count, taken;
void *producer(void *number) {
    pthread_mutex_lock(&lock);
    while (count == 1) pthread_cond_wait(&space, &lock);
    queue[count++] = (int)(long)number;
    pthread_cond_signal(&items);
    pthread_mutex_unlock(&lock);
    return NULL;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, producer, (void *)1L);
    pthread_create(&b, NULL, producer, (void *)2L);
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        while (count == 0) pthread_cond_wait(&items, &lock);
        taken = taken * 10 + queue[--count];
        pthread_cond_signal(&space);
        pthread_mutex_unlock(&lock);
        JITTER;
    }
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("taken=%d\n", taken);
    return 0;
}
