#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#ifndef JITTER
#define JITTER ((void)0)
#endif
pthread_key_t key;
atomic_int destroyed, clean;
static void destroy(void *value) { destroyed += *(int *)value; }
int values[2] = { 1, 10 };
void *work(void *value) {
    clean += pthread_getspecific(key) == NULL;
    JITTER;
    pthread_setspecific(key, value);
    JITTER;
    clean += pthread_getspecific(key) == value;
    if (value == &values[1]) pthread_exit(NULL);
    return NULL;
}
int main(void) {
    pthread_t a, b;
    pthread_key_create(&key, destroy);
    pthread_create(&a, NULL, work, &values[0]);
    pthread_create(&b, NULL, work, &values[1]);
    int early = destroyed;
    pthread_join(a, NULL);
    int half = destroyed;
    pthread_join(b, NULL);
    clean += pthread_getspecific(key) == NULL;
    pthread_key_delete(key);
    printf("early=%d half=%d all=%d clean=%d\n", early, half, destroyed, clean);
    return 0;
}
