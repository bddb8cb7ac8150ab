#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#ifndef JITTER
#define JITTER ((void)0)
#endif
struct node { int value; struct node *next; };
_Atomic(struct node *) head;
static void push(int value) {
    struct node *item = malloc(sizeof *item);
    item->value = value;
    struct node *old = head;
    do {
        item->next = old;
        JITTER;
    } while (!atomic_compare_exchange_weak(&head, &old, item));
}
void *work(void *number) {
    push((int)(long)number);
    return NULL;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, work, (void *)1L);
    pthread_create(&b, NULL, work, (void *)2L);
    push(3);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    int order = 0;
    while (head) {
        struct node *item = head;
        head = item->next;
        order = order * 10 + item->value;
        free(item);
    }
    printf("order=%d\n", order);
    return 0;
}
