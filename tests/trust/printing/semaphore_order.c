#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#ifndef JITTER
#define JITTER ((void)0)
#endif
sem_t go, lock;
int order;
static void note(int number) {
    sem_wait(&lock);
    order = order * 10 + number;
    sem_post(&lock);
}
void *first(void *unused) {
    note(1);
    JITTER;
    sem_post(&go);
    note(2);
    return NULL;
}
void *second(void *unused) {
    sem_wait(&go);
    note(3);
    return NULL;
}
int main(void) {
    pthread_t a, b;
    sem_init(&go, 0, 0);
    sem_init(&lock, 0, 1);
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    JITTER;
    note(4);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("order=%d\n", order);
    return 0;
}
