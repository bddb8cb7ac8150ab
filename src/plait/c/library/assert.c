/* Failed assertions. */
#include "plait.h"

void __assert_fail(const char *text, const char *file, unsigned int line, const char *function) {
  __plait_check("assertions", 0, "assertion");
  abort();
}
void __assert(const char *text, const char *file, int line) {
  __plait_check("assertions", 0, "assertion");
  abort();
}
void __assert_perror_fail(int number, const char *file, unsigned int line, const char *function) {
  __plait_check("assertions", 0, "assertion");
  abort();
}
/* BSD and musl. */
void __assert_rtn(const char *function, const char *file, int line, const char *text) {
  __plait_check("assertions", 0, "assertion");
  abort();
}
