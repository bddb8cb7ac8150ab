/* The runtime of native replay: one thread of the program runs at a time, and at every point where
 * threads could interact a strategy chooses who goes on.
 *
 * The compiler (-fsanitize=thread) calls __tsan_* before every access to memory (accesses.c). In
 * the compiled program, calls of pthread functions and the like are renamed by objcopy: pthread_join
 * becomes stand_in_pthread_join (sync.c). Both come to `point` (scheduler.c): the thread says what
 * it is about to do, and returns when it may do it.
 */
#ifndef RUNTIME_H
#define RUNTIME_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum { MOST_THREADS = 512 };

enum kind { READ, WRITE, UPDATE, SYNC };

/* What a thread is about to do. `name` is that of a SYNC operation: the function that the program
 * has called, or "start", "exit", "section", "end" (of the process); what follows a '/' is the part
 * of a call that takes several steps. `can_go` is null for what never blocks. */
struct operation {
  enum kind kind;
  const char *name;
  const void *address;
  size_t size;
  int is_atomic;
  const void *pc; /* where the program goes on */
  int (*can_go)(const struct operation *);
  const char *waits_for; /* for people */
  const void *more;      /* for can_go */
  int (*releaser)(const struct operation *); /* the one thread that can let it go on, or null */
  int is_outside;  /* it waits for what is outside of the process: a descriptor, a child */
  int is_patient;  /* a sleep, a yield, a time-out: others may go on first for a while */
  const void *other; /* a second object that it touches: the mutex of a wait */
};

struct thread {
  int number; /* from 1, in the order of creation, as in plait's model */
  int is_over;
  uint64_t born; /* number of the record of what has made it */
  int sections; /* depth of atomic sections */
  int go;       /* futex: 1 while it is this thread's turn */
  volatile int is_in_runtime; /* a signal handler that comes now must not choose again */
  struct operation pending;
  uintptr_t handle; /* its pthread_t */
  void *(*start)(void *);
  int (*start_c11)(void *);
  void *argument;
  void *result;
  int is_detached, is_joined;
  int is_cancelled, has_cleanup; /* in a hunt */
  void *strategy; /* what the strategy keeps */
};

/* A way to choose. All calls are made by the one thread that runs. */
struct strategy {
  const char *name;
  void (*begin)(void);
  /* `self` has published its pending operation: whether others may be asked to go on first. */
  int (*arrive)(struct thread *self);
  /* The thread that goes on, among those for which can_move holds; there is at least one. */
  struct thread *(*choose)(struct thread *self);
  /* `self` goes on with its pending operation. */
  void (*go_on)(struct thread *self);
  /* An input of the program, or a choice among `count` (0: any value). */
  uint64_t (*input)(struct thread *self, const char *name, uint64_t count);
  /* What to add to a report when the run ends without the expected failure, or null. */
  const char *(*explain)(void);
  /* `self` does its pending operation now, in atomic sections too; or null. */
  void (*observe)(struct thread *self);
};

extern const struct strategy replay_strategy, random_strategy, hunt_strategy;
/* Whether the program is hunted: its real arguments, heap, descriptors and time, and any failure
 * counts, not only the one of a plan. */
int is_hunt(void);
extern const struct strategy *strategy;

/* scheduler.c */
extern struct thread threads[MOST_THREADS + 1];
extern int thread_count;
struct thread *myself(void);
void point(const struct operation *operation);
void sync_point(const char *name, const void *address, const void *pc);
void wait_point(const char *name, const void *address, const void *pc,
                int (*can_go)(const struct operation *), const char *waits_for, const void *more);
void wait_for_thread(const char *name, const void *address, const void *pc,
                     int (*can_go)(const struct operation *), const char *waits_for,
                     const void *more, int (*releaser)(const struct operation *));
void enter_section(const void *pc);
void leave_section(void);
int can_move(const struct thread *thread);
struct thread *new_thread(void);
void run_thread(struct thread *self);
void end_thread(struct thread *self) __attribute__((noreturn));
void end_process(int status, const void *pc, int runs_handlers) __attribute__((noreturn));
uint64_t input(const char *name, uint64_t count);
void plait_before_failing_step(void);
int is_cancellation(const struct thread *thread);
int is_race(const struct operation *one, const struct operation *other);
void report_race(const struct thread *self, const struct thread *other) __attribute__((noreturn));
int is_passed_over(void);
void forget_others(void); /* in the child of a fork */
int is_forked(void);
extern int final_status; /* of the process */

/* report.c */
void begin_report(void);
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The run ends here. `how` is "failed" for a failure of the property (if it is the expected one),
 * or says how the program ended otherwise. */
void outcome(const char *how, const char *format, ...)
    __attribute__((format(printf, 2, 3), noreturn));
void failure(const char *property, const void *pc, const char *format, ...)
    __attribute__((format(printf, 3, 4), noreturn));
const char *describe(const struct operation *operation);
int is_expected(const char *property);

/* places.c: what the files `sites.txt` and `symbols.txt` beside the program say. */
struct site {
  uintptr_t pc;
  const char *file; /* without its folders */
  int line;
};
struct symbol {
  uintptr_t address, size;
  const char *name;
};
const struct site *site_of(const void *pc);
const struct symbol *symbol_at(const void *address);
const struct symbol *symbol_named(const char *name);
const char *place(const void *pc);
char *read_beside_program(const char *name);
int is_beside_program(const char *name);
const char *setting(const char *name, const char *otherwise);
const char *plan_name(void); /* of the file beside the program */

/* replay.c: what the plan says about the failure. */
struct expectation {
  char property[40];
  int thread; /* the one that fails, or 0 */
  int waiter; /* one that waits for ever, or 0 */
  char file[300]; /* where it fails; empty: anywhere */
  int first_line, last_line;
  int spurious_wakeups;
  const char *error_functions[16];
  int error_function_count;
  int has_arguments; /* of main */
  int argument_count;
  char **arguments; /* those that are known, then empty ones, then a null pointer */
  int known_arguments;
};
extern struct expectation expected;
void read_plan(void);
int is_initial(const void *address); /* of a variable that nothing initialises */

/* record.c: the trace of a hunted run, in a file that is there whatever happens to the process. */
enum { CHOICE = SYNC + 1, PENDING }; /* kinds of records that are no operations */
void begin_record(void);
void record_operation(struct thread *self, uint64_t enabled);
void record_choice(struct thread *self, const char *name, uint64_t value, uint64_t count);
void record_pending(void);
void record_value(struct thread *self);
void record_outcome(const char *text);
void record_clock_read(void);
void record_exec(const char *path, const char *where);
void forget_record(void);
uint64_t recorded(void);
void record_chosen(void); /* the next operation is one that was chosen, not one in a section */
struct suspect {
  uint64_t first, second; /* numbers of records */
  uint64_t first_pc, second_pc, address;
};
void record_suspect(const struct suspect *suspect);

/* races.c: happens-before, and accesses that it does not order. */
void order_before(const void *object); /* what the thread has done comes before whoever ... */
void order_after(const void *object);  /* ... goes on because of the object from now on */
void order_start(struct thread *child);
void order_join(struct thread *child);
void watch_access(struct thread *self, const struct operation *operation);

/* sync.c */
void end_cancelled(struct thread *self, const void *pc) __attribute__((noreturn));

/* outside.c: descriptors, time, other processes. */
void wait_outside(void);
uint64_t now(void); /* of the logical clock, in nanoseconds */
void pass_until(const struct timespec *deadline, int clock);

/* memory.c */
void check_access(const struct operation *operation);
void check_leaks(void);
int is_on_heap(const void *address);

#define CALLER __builtin_return_address(0)

#endif
