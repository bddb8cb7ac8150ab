#include <pthread.h>
#include <stdio.h>
#ifndef JITTER
#define JITTER ((void)0)
#endif
pthread_t first;
_Atomic int same, different;
void *work(void *creator) {
    pthread_t me = pthread_self();
    same += pthread_equal(me, pthread_self()) != 0;
    different += !pthread_equal(me, *(pthread_t *)creator);
    return NULL;
}
int main(void) {
    pthread_t a, b;
    first = pthread_self();
    pthread_create(&a, NULL, work, &first);
    pthread_create(&b, NULL, work, &first);
    int early = same;
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("early=%d same=%d different=%d\n", early, same, different);
    return 0;
}
