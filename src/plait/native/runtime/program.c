/* How a program begins and ends, what it asserts, and what SV-COMP's programs call. Those of these
 * functions that a program defines itself are its own. */
#include "runtime.h"

#include <stdio.h>
#include <stdlib.h>

#define WEAK __attribute__((weak))

int users_main(int, char **, char **) WEAK; /* the program's main, renamed */

/* Defined beside the plan if the program does not start in main. */
WEAK int plait_entry(int count, char **arguments, char **environment) {
  return users_main(count, arguments, environment);
}

int main(int count, char **arguments, char **environment) {
  char *none[] = {arguments[0], NULL};
  if (is_hunt()) end_process(plait_entry(count, arguments, environment), NULL, 1);
  if (!expected.has_arguments) end_process(plait_entry(1, none, environment), NULL, 1);
  end_process(plait_entry(expected.argument_count, expected.arguments, environment), NULL, 1);
}

void stand_in_exit(int status) { end_process(status, CALLER, 1); }
void stand_in__exit(int status) { end_process(status, CALLER, 0); }
void stand_in__Exit(int status) { end_process(status, CALLER, 0); }
void stand_in_abort(void) {
  sync_point("end", NULL, CALLER);
  if (is_hunt()) failure("abort", CALLER, "abort is called");
  outcome("aborted", "thread %d calls abort at %s", myself()->number, place(CALLER));
}

static void assertion(const char *text, const char *file, unsigned line, const char *function,
                      const void *pc) __attribute__((noreturn));
static void assertion(const char *text, const char *file, unsigned line, const char *function,
                      const void *pc) {
  fflush(NULL);
  fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function ? function : "?",
          text);
  failure("assertions", pc, "assertion '%s' failed", text);
}
void stand_in___assert_fail(const char *text, const char *file, unsigned line, const char *function) {
  assertion(text, file, line, function, CALLER);
}
void stand_in___assert(const char *text, const char *file, int line) {
  assertion(text, file, (unsigned)line, NULL, CALLER);
}
void stand_in___assert_perror_fail(int number, const char *file, unsigned line,
                                 const char *function) {
  (void)number;
  assertion("an error number", file, line, function, CALLER);
}

WEAK void __VERIFIER_error(void) {
  failure("unreach-call", CALLER, "__VERIFIER_error is called");
}
WEAK void reach_error(void) { failure("unreach-call", CALLER, "reach_error is called"); }
WEAK void __VERIFIER_assert(int condition) {
  if (!condition) failure("assertions", CALLER, "__VERIFIER_assert fails");
}
WEAK void __VERIFIER_assume(int condition) {
  if (!condition)
    outcome("assumption", "thread %d: __VERIFIER_assume(0) at %s: this run does not exist",
            myself()->number, place(CALLER));
}
WEAK void __VERIFIER_atomic_begin(void) { enter_section(CALLER); }
WEAK void __VERIFIER_atomic_end(void) { leave_section(); }

/* For generated definitions of functions that the program only declares. */
uint64_t plait_input(const char *name) { return input(name, 0); }
void plait_error_function(const char *name, const void *pc) {
  failure("unreach-call", pc, "%s is called", name);
}
