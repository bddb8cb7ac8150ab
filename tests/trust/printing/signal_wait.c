#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#ifndef JITTER
#define JITTER ((void)0)
#endif
int masks, taken;
void *work(void *unused) {
    sigset_t set, mask;
    int number;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, &mask);
    masks = sigismember(&mask, SIGUSR1) * 10 + sigismember(&mask, SIGUSR2);
    JITTER;
    sigwait(&set, &number);
    taken = number == SIGUSR1;
    return NULL;
}
int main(void) {
    pthread_t a;
    sigset_t set, old, now;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, &old);
    pthread_create(&a, NULL, work, NULL);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_SETMASK, &set, &now);
    JITTER;
    int answer = pthread_kill(a, SIGUSR1);
    pthread_join(a, NULL);
    int here = sigismember(&now, SIGUSR1) * 10 + sigismember(&now, SIGUSR2);
    printf("answer=%d here=%d there=%d taken=%d\n", answer, here, masks, taken);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return 0;
}
