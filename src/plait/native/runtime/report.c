/* How a run ends, in one line: to the file that PLAIT_REPORT names, and to standard error. */
#define _GNU_SOURCE
#include "runtime.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of gcov, if the program counts what it executes: it ends without exit. */
void __gcov_dump(void) __attribute__((weak));
static void save_counters(void) {
  if (__gcov_dump) __gcov_dump();
}

static int report_file = -1;
static volatile sig_atomic_t is_reported;


static void say(const char *text) {
  if (is_hunt()) {
    if (strncmp(text, "outcome ", 8) == 0) record_outcome(text + 8);
    return;
  }
  if (write(2, text, strlen(text)) < 0) return;
  if (report_file >= 0 && write(report_file, text, strlen(text)) < 0) return;
}

static void on_alarm(int number) {
  (void)number;
  if (!is_reported) say("outcome endless the run takes longer than its time limit\n");
  save_counters();
  _exit(3);
}

static void on_crash(int number) {
  signal(number, SIG_DFL);
  if (!is_reported) {
    is_reported = 1;
    char text[200];
    struct thread *self = myself();
    snprintf(text, sizeof text, "outcome %s thread %d: signal %d (%s) after %s\n",
             is_hunt() ? "failed crash:" : "crashed", self->number, number, strsignal(number),
             describe(&self->pending));
    if (is_hunt()) record_pending();
    say(text);
    save_counters();
  }
  raise(number);
}

void begin_report(void) {
  const char *path = setting("PLAIT_REPORT", NULL);
  if (path != NULL) report_file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (is_hunt()) { /* whoever has started this one keeps the time */
    begin_record();
    signal(SIGABRT, on_crash);
  } else {
    signal(SIGALRM, on_alarm);
    alarm((unsigned)atoi(setting("PLAIT_SECONDS", "10")));
  }
  int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
  for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++) signal(crashes[i], on_crash);
}

void note(const char *format, ...) {
  char text[1000] = "note ";
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text + 5, sizeof text - 6, format, arguments);
  va_end(arguments);
  strcat(text, "\n");
  say(text);
}

static void say_outcome(const char *how, const char *format, va_list arguments) {
  char what[800], text[1000];
  is_reported = 1;
  vsnprintf(what, sizeof what, format, arguments);
  snprintf(text, sizeof text, "outcome %s %s\n", how, what);
  say(text);
}

void outcome(const char *how, const char *format, ...) {
  va_list arguments;
  if (is_forked()) _exit(strcmp(how, "ended") == 0 ? final_status : 3);
  myself()->is_in_runtime = 1;
  fflush(NULL);
  if (is_hunt() && setting("PLAIT_RECORD", NULL) == NULL)
    _exit(strcmp(how, "ended") == 0 ? final_status : 3);
  if (is_hunt()) record_pending();
  const char *why = strategy->explain == NULL ? NULL : strategy->explain();
  if (why != NULL && strcmp(how, "failed") != 0) note("%s", why);
  va_start(arguments, format);
  say_outcome(how, format, arguments);
  va_end(arguments);
  save_counters();
  if (strcmp(how, "failed") == 0 && !is_hunt()) abort();
  _exit(3);
}

/* PLAIT_PROPERTIES lists what a hunt is for. */
static int is_hunted(const char *property) {
  const char *at = setting("PLAIT_PROPERTIES", "");
  size_t length = strlen(property);
  for (; *at != 0; at += strcspn(at, ","), at += *at == ',')
    if (strncmp(at, property, length) == 0 && (at[length] == ',' || at[length] == 0)) return 1;
  return 0;
}

/* Assertions and calls of error functions are the same failure seen by two properties. */
int is_expected(const char *property) {
  if (is_hunt()) return is_hunted(property);
  if (strcmp(property, expected.property) == 0) return 1;
  const char *calls[] = {"assertions", "unreach-call"};
  int one = 0, other = 0;
  for (int i = 0; i < 2; i++) {
    one |= strcmp(property, calls[i]) == 0;
    other |= strcmp(expected.property, calls[i]) == 0;
  }
  return one && other;
}

/* Inside the statement that fails in the model, if the line table knows the place. */
static int is_expected_place(const void *pc) {
  const struct site *site = site_of(pc);
  if (site == NULL || expected.file[0] == 0) return 1;
  return strcmp(site->file, expected.file) == 0 && site->line >= expected.first_line &&
         site->line <= expected.last_line;
}

void failure(const char *property, const void *pc, const char *format, ...) {
  char what[600];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  int thread = myself()->number;
  int is_it = is_expected(property) && is_expected_place(pc) &&
              (expected.thread == 0 || expected.thread == thread);
  const char *how = is_it ? "failed" : "other-failure";
  outcome(how, "%s: thread %d at %s: %s", property, thread, place(pc), what);
}

const char *describe(const struct operation *operation) {
  static char texts[4][300];
  static int next;
  static const char *const verbs[] = {"read", "write", "update"};
  char *text = texts[next++ % 4];
  const char *what = operation->kind == SYNC ? operation->name : verbs[operation->kind];
  const struct symbol *symbol = operation->address ? symbol_at(operation->address) : NULL;
  snprintf(text, sizeof texts[0], "%s%s%s at %s", what ? what : "nothing", symbol ? " of " : "",
           symbol ? symbol->name : "", place(operation->pc));
  return text;
}
