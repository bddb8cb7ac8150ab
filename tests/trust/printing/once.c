#include <pthread.h>
#include <stdio.h>
#ifndef JITTER
#define JITTER ((void)0)
#endif
pthread_once_t once = PTHREAD_ONCE_INIT;
int runs, seen[2];
static void start(void) {
    int old = runs;
    JITTER;
    runs = old + 1;
}
void *work(void *place) {
    pthread_once(&once, start);
    *(int *)place = runs;
    return NULL;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, work, &seen[0]);
    pthread_create(&b, NULL, work, &seen[1]);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("runs=%d seen=%d,%d\n", runs, seen[0], seen[1]);
    return 0;
}
