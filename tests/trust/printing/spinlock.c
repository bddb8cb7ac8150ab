#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#ifndef JITTER
#define JITTER ((void)0)
#endif
pthread_spinlock_t lock;
int x, tried;
void *add(void *number) {
    pthread_spin_lock(&lock);
    int old = x;
    x = old * 3 + (int)(long)number;
    pthread_spin_unlock(&lock);
    return NULL;
}
int main(void) {
    pthread_t a, b;
    pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
    pthread_create(&a, NULL, add, (void *)1L);
    pthread_create(&b, NULL, add, (void *)2L);
    JITTER;
    if (pthread_spin_trylock(&lock) == 0) {
        tried = 1 + x;
        pthread_spin_unlock(&lock);
    }
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("x=%d tried=%d\n", x, tried);
    return 0;
}
