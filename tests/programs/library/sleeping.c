// A time that is none is an error; every other sleep takes no time.
// expect assertions: true
#include <assert.h>
#include <errno.h>
#include <time.h>
#include <unistd.h>

int main(void) {
  struct timespec short_time = {0, 5}, none = {0, 1000000000}, before = {-1, 0};
  assert(nanosleep(&short_time, NULL) == 0);
  assert(nanosleep(&none, NULL) == -1 && errno == EINVAL);
  assert(nanosleep(&before, NULL) == -1);
  assert(clock_nanosleep(CLOCK_MONOTONIC, 0, &none, NULL) == EINVAL);
  assert(clock_nanosleep(CLOCK_MONOTONIC, 0, &short_time, NULL) == 0);
  assert(usleep(1) == 0 && sleep(0) == 0);
  return 0;
}
