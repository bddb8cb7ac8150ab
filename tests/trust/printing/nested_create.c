#include <pthread.h>
#include <stdio.h>
#ifndef JITTER
#define JITTER ((void)0)
#endif
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int order;
static void note(int number) {
    pthread_mutex_lock(&lock);
    order = order * 10 + number;
    pthread_mutex_unlock(&lock);
}
void *leaf(void *number) {
    note((int)(long)number);
    return NULL;
}
void *inner(void *unused) {
    pthread_t t;
    pthread_create(&t, NULL, leaf, (void *)3L);
    JITTER;
    note(2);
    pthread_join(t, NULL);
    return NULL;
}
int main(void) {
    pthread_t a;
    pthread_create(&a, NULL, inner, NULL);
    JITTER;
    note(1);
    pthread_join(a, NULL);
    printf("order=%d\n", order);
    return 0;
}
