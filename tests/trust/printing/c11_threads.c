#include <stdio.h>
#include <threads.h>
#ifndef JITTER
#define JITTER ((void)0)
#endif
mtx_t lock;
cnd_t changed;
once_flag once = ONCE_FLAG_INIT;
int ready, order, runs;
static void start(void) { runs++; }
int work(void *number) {
    call_once(&once, start);
    mtx_lock(&lock);
    while (!ready) cnd_wait(&changed, &lock);
    order = order * 10 + *(int *)number;
    mtx_unlock(&lock);
    return *(int *)number + 5;
}
int main(void) {
    thrd_t a, b;
    int one = 1, two = 2, x, y;
    mtx_init(&lock, mtx_plain);
    cnd_init(&changed);
    thrd_create(&a, work, &one);
    thrd_create(&b, work, &two);
    JITTER;
    mtx_lock(&lock);
    ready = 1;
    cnd_broadcast(&changed);
    mtx_unlock(&lock);
    thrd_join(a, &x);
    thrd_join(b, &y);
    mtx_destroy(&lock);
    cnd_destroy(&changed);
    printf("order=%d runs=%d x=%d y=%d\n", order, runs, x, y);
    return 0;
}
