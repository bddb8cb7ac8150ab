#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#ifndef JITTER
#define JITTER ((void)0)
#endif
sem_t done;
_Atomic int x;
void *work(void *unused) {
    pthread_detach(pthread_self());
    x++;
    JITTER;
    x += 10;
    sem_post(&done);
    return NULL;
}
int main(void) {
    pthread_t t;
    sem_init(&done, 0, 0);
    pthread_create(&t, NULL, work, NULL);
    int early = x;
    sem_wait(&done);
    printf("early=%d x=%d\n", early, x);
    return 0;
}
