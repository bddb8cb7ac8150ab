#include <pthread.h>
#include <stdio.h>
#ifndef JITTER
#define JITTER ((void)0)
#endif
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
int ready, order;
void *waiter(void *number) {
    pthread_mutex_lock(&lock);
    while (!ready) pthread_cond_wait(&changed, &lock);
    order = order * 10 + (int)(long)number;
    pthread_mutex_unlock(&lock);
    return NULL;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, waiter, (void *)1L);
    pthread_create(&b, NULL, waiter, (void *)2L);
    JITTER;
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_mutex_unlock(&lock);
    pthread_cond_broadcast(&changed);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("order=%d\n", order);
    return 0;
}
