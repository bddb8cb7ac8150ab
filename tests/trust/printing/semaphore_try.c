#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#ifndef JITTER
#define JITTER ((void)0)
#endif
sem_t tokens;
int got[2];
void *taker(void *place) {
    for (int i = 0; i < 2; i++) {
        if (sem_trywait(&tokens) == 0) ++*(int *)place;
        else if (errno != EAGAIN) *(int *)place = 100;
        JITTER;
    }
    return NULL;
}
int main(void) {
    pthread_t a, b;
    sem_init(&tokens, 0, 1);
    pthread_create(&a, NULL, taker, &got[0]);
    pthread_create(&b, NULL, taker, &got[1]);
    JITTER;
    sem_post(&tokens);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    int left;
    sem_getvalue(&tokens, &left);
    printf("got=%d,%d left=%d\n", got[0], got[1], left);
    return 0;
}
