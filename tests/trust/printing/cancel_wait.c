#include <pthread.h>
#include <stdio.h>
#ifndef JITTER
#define JITTER ((void)0)
#endif
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
int ready, order;
static void release(void *unused) {
    order = order * 10 + 1;
    pthread_mutex_unlock(&lock);
}
static void note(void *number) { order = order * 10 + *(int *)number; }
void *work(void *unused) {
    int two = 2;
    pthread_cleanup_push(note, &two);
    pthread_mutex_lock(&lock);
    pthread_cleanup_push(release, NULL);
    JITTER;
    while (!ready) pthread_cond_wait(&changed, &lock);
    order = 7;
    pthread_cleanup_pop(1);
    pthread_cleanup_pop(0);
    return &ready;
}
int main(void) {
    pthread_t a;
    void *result;
    pthread_create(&a, NULL, work, NULL);
    JITTER;
    int answer = pthread_cancel(a);
    JITTER;
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    pthread_join(a, &result);
    printf("answer=%d cancelled=%d order=%d\n", answer, result == PTHREAD_CANCELED, order);
    return 0;
}
