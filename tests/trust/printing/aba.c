#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#ifndef JITTER
#define JITTER ((void)0)
#endif
atomic_int top = 1;
int fooled;
_Atomic int changes;
void *slow(void *unused) {
    int seen = top;
    int before = changes;
    JITTER;
    int expected = seen;
    if (atomic_compare_exchange_strong(&top, &expected, 5)) fooled = changes - before;
    return NULL;
}
void *fast(void *unused) {
    changes++;
    top = 2;
    JITTER;
    changes++;
    top = 1;
    return NULL;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, slow, NULL);
    pthread_create(&b, NULL, fast, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("top=%d fooled=%d\n", top, fooled);
    return 0;
}
