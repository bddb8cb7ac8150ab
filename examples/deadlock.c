/* Two accounts, two transfers in opposite directions, two locks taken in opposite orders.
 *
 *     plait explore --property no-deadlock examples/deadlock.c
 *         VERDICT: false (no-deadlock), with who waits for whom
 *     plait explore --property no-deadlock -DORDERED examples/deadlock.c
 *         VERDICT: true   (every thread takes the lock of the lower account first)
 *     plait explore examples/deadlock.c
 *         VERDICT: true   (no money is lost: a deadlock is not a failing assertion)
 */
#include <assert.h>
#include <pthread.h>

struct account {
  pthread_mutex_t lock;
  int balance;
};

struct account accounts[2] = {
    {PTHREAD_MUTEX_INITIALIZER, 10},
    {PTHREAD_MUTEX_INITIALIZER, 10},
};

static void transfer(struct account *from, struct account *to, int amount) {
  struct account *first = from, *second = to;
#ifdef ORDERED
  if (to < from) {
    first = to;
    second = from;
  }
#endif
  pthread_mutex_lock(&first->lock);
  pthread_mutex_lock(&second->lock);
  from->balance -= amount;
  to->balance += amount;
  pthread_mutex_unlock(&second->lock);
  pthread_mutex_unlock(&first->lock);
}

void *there(void *unused) {
  transfer(&accounts[0], &accounts[1], 3);
  return 0;
}

void *back(void *unused) {
  transfer(&accounts[1], &accounts[0], 5);
  return 0;
}

int main(void) {
  pthread_t first, second;
  pthread_create(&first, 0, there, 0);
  pthread_create(&second, 0, back, 0);
  pthread_join(first, 0);
  pthread_join(second, 0);
  assert(accounts[0].balance == 12 && accounts[1].balance == 8);
  return 0;
}
