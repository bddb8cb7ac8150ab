#include <pthread.h>
#include <stdio.h>
pthread_key_t first, second, gone, again;
int order, rounds;
static void one(void *value) {
    order = order * 10 + 1;
    if (pthread_getspecific(second) == NULL) order = order * 10 + 9;
}
static void two(void *value) {
    order = order * 10 + 2;
    if (pthread_getspecific(first) == NULL) order = order * 10 + 8;
    if (value == &rounds) pthread_setspecific(first, &order);
}
static void never(void *value) { order = 7; }
static void forever(void *value) {
    rounds++;
    pthread_setspecific(again, value);
}
void *work(void *unused) {
    pthread_setspecific(first, &order);
    pthread_setspecific(second, &rounds);
    pthread_setspecific(gone, &order);
    pthread_setspecific(again, &order);
    pthread_key_delete(gone);
    return NULL;
}
int main(void) {
    pthread_t a;
    pthread_key_create(&first, one);
    pthread_key_create(&second, two);
    pthread_key_create(&gone, never);
    pthread_key_create(&again, forever);
    pthread_create(&a, NULL, work, NULL);
    pthread_join(a, NULL);
    pthread_key_delete(first);
    pthread_key_delete(second);
    pthread_key_delete(again);
    printf("order=%d rounds=%d\n", order, rounds);
    return 0;
}
