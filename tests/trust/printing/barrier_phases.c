#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#ifndef JITTER
#define JITTER ((void)0)
#endif
pthread_barrier_t barrier;
atomic_int arrived, serial[2];
int seen[2][2];
void *work(void *number) {
    long me = (long)number;
    for (int phase = 0; phase < 2; phase++) {
        JITTER;
        arrived++;
        if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) serial[phase]++;
        seen[me][phase] = arrived >= 2 * phase + 2;
    }
    return NULL;
}
int main(void) {
    pthread_t a, b;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&a, NULL, work, (void *)0L);
    pthread_create(&b, NULL, work, (void *)1L);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_barrier_destroy(&barrier);
    printf("serial=%d,%d seen=%d%d%d%d\n", serial[0], serial[1], seen[0][0], seen[0][1],
           seen[1][0], seen[1][1]);
    return 0;
}
