/* Threads that take turns. A thread hands the turn over with a futex; nothing here blocks in any
 * other way, so that a run in which nobody can move is noticed at once. */
#define _GNU_SOURCE
#include "runtime.h"

#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct thread threads[MOST_THREADS + 1];
int thread_count;
const struct strategy *strategy;
const void *plait_user_pc; /* for debuggers: where the program goes on after the failing step */

static __thread struct thread *me;

int final_status;

/* Registered before all handlers of the program, so that it runs after them. */
static void last_handler(void) {
  check_leaks();
  outcome("ended", "the program ends with status %d", final_status);
}

static void set_up(void) {
  /* A hunted program that its own build executes is to behave as it always does. */
  const char *name = setting("PLAIT_STRATEGY", is_beside_program(plan_name()) ? "replay" : "hunt");
  strategy = strcmp(name, "random") == 0 ? &random_strategy
             : strcmp(name, "hunt") == 0 ? &hunt_strategy
                                         : &replay_strategy;
  me = new_thread();
  me->go = 1;
  me->handle = (uintptr_t)pthread_self();
  atexit(last_handler);
  begin_report();
  read_plan();
  if (is_hunt()) expected.spurious_wakeups = atoi(setting("PLAIT_SPURIOUS", "0"));
  strategy->begin();
}

int is_hunt(void) {
  myself();
  return strategy == &hunt_strategy;
}

/* A thread that the program has not made, such as one of a timer, is none of ours. */
static struct thread stranger;

struct thread *myself(void) {
  if (me == NULL && strategy != NULL) me = &stranger;
  if (me == NULL) set_up();
  return me;
}

/* A signal handler of the program that has interrupted the runtime, or a thread whose turn it is
 * not, goes on unseen; so does the child of a fork. */
static int is_alone;

int is_passed_over(void) {
  struct thread *self = myself();
  return is_alone || self->is_in_runtime || !__atomic_load_n(&self->go, __ATOMIC_RELAXED);
}

void forget_others(void) { is_alone = 1; }
int is_forked(void) { return is_alone; }

struct thread *new_thread(void) {
  if (thread_count == MOST_THREADS) outcome("limit", "more than %d threads", MOST_THREADS);
  struct thread *thread = &threads[++thread_count];
  thread->number = thread_count;
  return thread;
}

/* Whether a cancelled thread ends now instead of what it would do next. */
int is_cancellation(const struct thread *thread) {
  const struct operation *next = &thread->pending;
  if (!thread->is_cancelled || next->kind != SYNC) return 0;
  static const char *const names[] = {"sem_wait", "pthread_join", "sleep", "usleep", "nanosleep"};
  if (next->is_outside) return 1;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(next->name, names[i]) == 0) return 1;
  return 0;
}

int can_move(const struct thread *thread) {
  const struct operation *next = &thread->pending;
  if (is_cancellation(thread)) return !thread->is_over;
  return !thread->is_over && (next->can_go == NULL || next->can_go(next));
}

static void sleep_until_my_turn(struct thread *self) {
  while (!__atomic_load_n(&self->go, __ATOMIC_ACQUIRE))
    syscall(SYS_futex, &self->go, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

static void hand_over(struct thread *self, struct thread *next) {
  __atomic_store_n(&self->go, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&next->go, 1, __ATOMIC_RELEASE);
  syscall(SYS_futex, &next->go, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void deadlock(const char *is_blocked) __attribute__((noreturn));
static void deadlock(const char *is_blocked) {
  char text[600] = "";
  for (int i = 1; i <= thread_count && strlen(text) < 400; i++) {
    if (!is_blocked[i]) continue;
    const struct operation *pending = &threads[i].pending;
    size_t used = strlen(text);
    snprintf(text + used, sizeof text - used, "%sthread %d waits for %s (%s)", used ? ", " : "", i,
             pending->waits_for, describe(pending));
  }
  plait_before_failing_step();
  const char *how = is_expected("no-deadlock") ? "failed" : "other-failure";
  outcome(how, "no-deadlock: %s, for ever", text);
}

/* Nobody can move: the program has ended, or is in a deadlock. */
static void stuck(void) {
  char is_blocked[MOST_THREADS + 1] = {0};
  int count = 0;
  for (int i = 1; i <= thread_count; i++) count += is_blocked[i] = !threads[i].is_over;
  if (count == 0) outcome("ended", "all threads have ended");
  deadlock(is_blocked);
}

/* Threads that only threads among them could let go on wait for ever, whatever others do. What has
 * no certain releaser (a semaphore, say) can be released by anyone who is not blocked. */
static void check_deadlock(void) {
  char is_blocked[MOST_THREADS + 1] = {0};
  int is_changed = 1, is_anyone_free = 0;
  if (!is_expected("no-deadlock")) return;
  for (int i = 1; i <= thread_count; i++) {
    is_blocked[i] = !threads[i].is_over && !can_move(&threads[i]) && !threads[i].pending.is_outside;
    is_anyone_free |= !threads[i].is_over && !is_blocked[i];
  }
  while (is_changed) {
    is_changed = 0;
    for (int i = 1; i <= thread_count; i++) {
      if (!is_blocked[i]) continue;
      const struct operation *pending = &threads[i].pending;
      int releaser = pending->releaser == NULL ? 0 : pending->releaser(pending);
      if (releaser == 0 ? is_anyone_free : !is_blocked[releaser] && !threads[releaser].is_over) {
        is_blocked[i] = 0;
        is_anyone_free = is_changed = 1;
      }
    }
  }
  if (!is_hunt()) {
    if (is_blocked[expected.waiter]) deadlock(is_blocked);
    return;
  }
  for (int i = 1; i <= thread_count; i++)
    if (is_blocked[i]) deadlock(is_blocked);
}

static struct thread *choose(struct thread *self) {
  for (;;) {
    int is_anyone_outside = 0;
    for (int i = 1; i <= thread_count; i++) {
      if (can_move(&threads[i])) return strategy->choose(self);
      is_anyone_outside |= !threads[i].is_over && threads[i].pending.is_outside;
    }
    if (!is_anyone_outside) stuck();
    wait_outside();
  }
}

static void check_races(struct thread *self);

static void do_pending(struct thread *self) {
  if (strategy->observe != NULL) strategy->observe(self);
  check_access(&self->pending);
  self->is_in_runtime = 0;
}

void point(const struct operation *operation) {
  struct thread *self = myself();
  if (is_passed_over()) return;
  self->is_in_runtime = 1;
  self->pending = *operation;
  self->pending.is_atomic |= self->sections > 0;
  /* A section that is blocked in the middle cannot keep its turn. */
  if (self->sections > 0 && can_move(self)) {
    do_pending(self);
    return;
  }
  int may_wait = strategy->arrive(self);
  if (operation->kind != SYNC) check_races(self);
  if (may_wait || !can_move(self)) {
    if (!can_move(self)) check_deadlock();
    struct thread *next = choose(self);
    if (next != self) {
      hand_over(self, next);
      sleep_until_my_turn(self);
    }
  }
  plait_user_pc = operation->pc;
  strategy->go_on(self);
  int is_cancelled = is_cancellation(self);
  do_pending(self);
  if (is_cancelled) end_cancelled(self, operation->pc);
}

/* Accesses to common bytes, at least one of which writes, and not both are atomic. */
int is_race(const struct operation *one, const struct operation *other) {
  if (one->kind == SYNC || other->kind == SYNC || one->pc == NULL || other->pc == NULL) return 0;
  if (one->kind == READ && other->kind == READ) return 0;
  if (one->is_atomic && other->is_atomic) return 0;
  const char *a = one->address, *b = other->address;
  return a < b + other->size && b < a + one->size;
}

void report_race(const struct thread *self, const struct thread *other) {
  plait_user_pc = self->pending.pc;
  plait_before_failing_step();
  outcome("failed", "no-data-race: thread %d stands before a %s, and thread %d before a %s",
          self->number, describe(&self->pending), other->number, describe(&other->pending));
}

/* Two threads stand right before accesses that race. */
static void check_races(struct thread *self) {
  if (is_hunt() || !is_expected("no-data-race")) return;
  for (int i = 1; i <= thread_count; i++) {
    if (&threads[i] == self || threads[i].is_over) continue;
    if (is_race(&self->pending, &threads[i].pending)) report_race(self, &threads[i]);
  }
}

void sync_point(const char *name, const void *address, const void *pc) {
  wait_point(name, address, pc, NULL, "", NULL);
}

void wait_point(const char *name, const void *address, const void *pc,
                int (*can_go)(const struct operation *), const char *waits_for, const void *more) {
  wait_for_thread(name, address, pc, can_go, waits_for, more, NULL);
}

void wait_for_thread(const char *name, const void *address, const void *pc,
                     int (*can_go)(const struct operation *), const char *waits_for,
                     const void *more, int (*releaser)(const struct operation *)) {
  struct operation operation = {.kind = SYNC, .name = name, .address = address, .size = 1,
                                .is_atomic = 1, .pc = pc, .can_go = can_go,
                                .waits_for = waits_for, .more = more, .releaser = releaser};
  point(&operation);
}

void enter_section(const void *pc) {
  struct thread *self = myself();
  if (self->sections == 0) sync_point("section", NULL, pc);
  self->sections++;
}

void leave_section(void) {
  struct thread *self = myself();
  if (self->sections > 0) self->sections--;
}

/* The first thing that a new thread does. Its first operation was published by its creator. */
void run_thread(struct thread *self) {
  me = self;
  sleep_until_my_turn(self);
  strategy->go_on(self);
  if (strategy->observe != NULL) strategy->observe(self);
}

void end_thread(struct thread *self) {
  self->is_over = 1;
  hand_over(self, choose(self));
  /* The process ends when it should; a real end of the thread would run code behind our back. */
  for (;;) pause();
}

void end_process(int status, const void *pc, int runs_handlers) {
  sync_point("end", NULL, pc);
  final_status = status;
  if (runs_handlers) exit(status);
  last_handler();
  abort();
}

uint64_t input(const char *name, uint64_t count) { return strategy->input(myself(), name, count); }

/* For debuggers: called by the thread that fails, before the last step of the plan. */
__attribute__((noinline)) void plait_before_failing_step(void) { __asm__ volatile(""); }
