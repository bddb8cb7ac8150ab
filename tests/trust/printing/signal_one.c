#include <pthread.h>
#include <stdio.h>
#ifndef JITTER
#define JITTER ((void)0)
#endif
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
int tokens, order;
void *taker(void *number) {
    pthread_mutex_lock(&lock);
    while (tokens == 0) pthread_cond_wait(&changed, &lock);
    tokens--;
    order = order * 10 + (int)(long)number;
    pthread_mutex_unlock(&lock);
    return NULL;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, taker, (void *)1L);
    pthread_create(&b, NULL, taker, (void *)2L);
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        tokens++;
        order = order * 10 + 7;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
        JITTER;
    }
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("order=%d\n", order);
    return 0;
}
