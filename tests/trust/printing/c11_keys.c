#include <stdio.h>
#include <threads.h>
tss_t key;
int destroyed, rounds;
static void destroy(void *value) {
    destroyed += *(int *)value;
    if (++rounds < 9) tss_set(key, value);
}
int work(void *value) {
    int empty = tss_get(key) == NULL;
    if (tss_set(key, value) != thrd_success) return 9;
    return empty + 2 * (tss_get(key) == value);
}
int main(void) {
    thrd_t a;
    int five = 5, result;
    tss_create(&key, destroy);
    thrd_create(&a, work, &five);
    thrd_join(a, &result);
    tss_delete(key);
    printf("result=%d destroyed=%d rounds=%d iterations=%d\n", result, destroyed, rounds,
           TSS_DTOR_ITERATIONS);
    return 0;
}
