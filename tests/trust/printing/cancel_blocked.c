#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#ifndef JITTER
#define JITTER ((void)0)
#endif
sem_t semaphore;
int cleaned;
pthread_t waiting;
static void clean(void *unused) {
    pthread_testcancel();
    cleaned++;
}
void *wait_for_semaphore(void *unused) {
    pthread_cleanup_push(clean, NULL);
    JITTER;
    sem_wait(&semaphore);
    pthread_cleanup_pop(1);
    return NULL;
}
void *wait_for_thread(void *unused) {
    pthread_cleanup_push(clean, NULL);
    JITTER;
    pthread_join(waiting, NULL);
    pthread_cleanup_pop(0);
    return NULL;
}
int main(void) {
    pthread_t joining;
    void *result;
    sem_init(&semaphore, 0, 0);
    pthread_create(&waiting, NULL, wait_for_semaphore, NULL);
    pthread_create(&joining, NULL, wait_for_thread, NULL);
    JITTER;
    pthread_cancel(joining);
    pthread_join(joining, &result);
    int joined = result != PTHREAD_CANCELED, before = cleaned;
    pthread_cancel(waiting);
    JITTER;
    sem_post(&semaphore);
    pthread_join(waiting, &result);
    printf("joined=%d before=%d cancelled=%d cleaned=%d\n", joined, before,
           result == PTHREAD_CANCELED, cleaned);
    return 0;
}
