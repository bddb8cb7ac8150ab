// A thread takes the signals that all threads block; each thread has the mask of its creator.
// expect assertions: true
// expect no-deadlock: true
// expect no-data-race: true
#include <assert.h>
#include <pthread.h>
#include <signal.h>

int taken;

static void *work(void *unused) {
  sigset_t set, mask;
  int number;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &set, &mask);
  assert(sigismember(&mask, SIGUSR1) && !sigismember(&mask, SIGUSR2));
  sigwait(&set, &number);
  taken = number;
  return NULL;
}

int main(void) {
  pthread_t thread;
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  pthread_create(&thread, NULL, work, NULL);
  assert(pthread_kill(thread, SIGUSR1) == 0);
  pthread_join(thread, NULL);
  assert(taken == SIGTERM || taken == SIGUSR1);
  raise(SIGINT);
  assert(0);
}
