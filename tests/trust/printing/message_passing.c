#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#ifndef JITTER
#define JITTER ((void)0)
#endif
_Atomic int data, flag;
int seen_flag, seen_data;
void *writer(void *unused) {
    data = 42;
    JITTER;
    flag = 1;
    return NULL;
}
void *reader(void *unused) {
    seen_flag = flag;
    JITTER;
    seen_data = data;
    return NULL;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, writer, NULL);
    pthread_create(&b, NULL, reader, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("flag=%d data=%d\n", seen_flag, seen_data);
    return 0;
}
