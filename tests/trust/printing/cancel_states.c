#include <pthread.h>
#include <stdio.h>
#ifndef JITTER
#define JITTER ((void)0)
#endif
pthread_key_t key;
int reached, destroyed;
static void destroy(void *value) { destroyed = reached; }
void *work(void *unused) {
    int old;
    pthread_setspecific(key, &reached);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
    reached = 1 + (old == PTHREAD_CANCEL_ENABLE);
    JITTER;
    pthread_testcancel();
    reached = 3;
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old);
    reached = 4 + (old == PTHREAD_CANCEL_DISABLE);
    JITTER;
    pthread_testcancel();
    reached = 6;
    return NULL;
}
int main(void) {
    pthread_t a;
    void *result;
    pthread_key_create(&key, destroy);
    pthread_create(&a, NULL, work, NULL);
    JITTER;
    pthread_cancel(a);
    pthread_join(a, &result);
    pthread_key_delete(key);
    printf("cancelled=%d reached=%d destroyed=%d\n", result == PTHREAD_CANCELED, reached, destroyed);
    return 0;
}
