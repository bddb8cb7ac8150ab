/* A stack in an array, protected by a mutex; two threads push and pop as long as they like.
 * Checked: nobody pushes onto a full stack or pops from an empty one. */
#include <assert.h>
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);

enum { SIZE = 5 };

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int items[SIZE];
int height;

static int is_full(void) { return height == SIZE; }

static int is_empty(void) { return height == 0; }

static void push(int item) {
  assert(height < SIZE);
  items[height] = item;
  height = height + 1;
}

static int pop(void) {
  assert(height > 0);
  height = height - 1;
  return items[height];
}

static void produce(void) {
  pthread_mutex_lock(&lock);
  if (!is_full())
    push(__VERIFIER_nondet_int());
  pthread_mutex_unlock(&lock);
}

static void consume(void) {
  pthread_mutex_lock(&lock);
  if (!is_empty())
    pop();
  pthread_mutex_unlock(&lock);
}

void *work(void *unused) {
  while (1) {
    if (__VERIFIER_nondet_int())
      produce();
    else
      consume();
  }
  return 0;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, work, 0);
  pthread_create(&two, 0, work, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  return 0;
}
