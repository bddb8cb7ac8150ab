#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#ifndef JITTER
#define JITTER ((void)0)
#endif
unsigned char small = 254;
atomic_short wide;
int old[2];
void *work(void *number) {
    long me = (long)number;
    old[me] = __atomic_fetch_add(&small, 1, __ATOMIC_SEQ_CST);
    JITTER;
    old[me] += 1000 * atomic_fetch_sub(&wide, 3);
    return NULL;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, work, (void *)0L);
    pthread_create(&b, NULL, work, (void *)1L);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("old=%d,%d small=%d wide=%d\n", old[0], old[1], small, wide);
    return 0;
}
