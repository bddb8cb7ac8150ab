#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#ifndef JITTER
#define JITTER ((void)0)
#endif
sem_t places;
atomic_int inside, most;
void *work(void *unused) {
    sem_wait(&places);
    int now = ++inside;
    int old = most;
    while (old < now && !atomic_compare_exchange_strong(&most, &old, now)) ;
    JITTER;
    inside--;
    sem_post(&places);
    return NULL;
}
int main(void) {
    pthread_t t[3];
    sem_init(&places, 0, 2);
    for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    int left;
    sem_getvalue(&places, &left);
    sem_destroy(&places);
    printf("most=%d left=%d\n", most, left);
    return 0;
}
