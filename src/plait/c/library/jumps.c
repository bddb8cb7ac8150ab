/* Jumps out of functions. The front end follows each call that may jump by returns (jumps.py); here is
   kept where to. A frame that has called setjmp is known by its depth among those of the thread, and,
   as others may have had that depth before, by a number of its own. */
#include "plait.h"

#define PLAIT_FRAMES 8

static _Thread_local int __plait_frames;
static _Thread_local unsigned long __plait_numbers[PLAIT_FRAMES];
static _Thread_local unsigned long __plait_last_number;

static _Thread_local int __plait_jump_depth; /* of the frame to go to; 0: there is no jump */
static _Thread_local int __plait_jump_to;    /* which of its calls of setjmp */
static _Thread_local int __plait_jump_value;
static _Thread_local const void *__plait_jump_by;

/* In the place of the registers that glibc keeps there, and behind them of the mask. */
#ifdef __LP64__
#define PLAIT_UNUSED 4
#else
#define PLAIT_UNUSED 1
#endif
struct __plait_jump {
  const void *self; /* null: not set; others: a copy */
  int thread;
  short depth;
  short site;
  int handlers; /* for cleanup */
  unsigned long number;
#if PLAIT_SIGNALS
  unsigned long unused[PLAIT_UNUSED]; /* as much of glibc's registers as is left */
  int keeps_mask;
  unsigned long long mask;
#endif
};
#if PLAIT_SIGNALS
unsigned long long __plait_signal_mask(void);
void __plait_restore_signal_mask(unsigned long long);
#endif

extern _Thread_local int __plait_cleanup_handlers;

int __plait_enter_frame(void) {
  int depth = __plait_frames;
  if (depth == PLAIT_FRAMES) __plait_unsupported("more than 8 nested functions that call setjmp");
  __plait_last_number = __plait_last_number + 1;
  __plait_numbers[depth] = __plait_last_number;
  __plait_frames = depth + 1;
  return depth + 1;
}
void __plait_leave_frame(int depth) { __plait_frames = depth - 1; }

void __plait_set_jump(struct __plait_jump *environment, int depth, int site, int saves_mask) {
  environment->self = environment;
  environment->thread = __plait_self();
  environment->depth = depth;
  environment->site = site;
  environment->handlers = __plait_cleanup_handlers;
  environment->number = __plait_numbers[depth - 1];
#if PLAIT_SIGNALS
  environment->keeps_mask = saves_mask;
  if (saves_mask) environment->mask = __plait_signal_mask();
#endif
}

int __plait_jump_target(void) { return __plait_jump_depth; }
int __plait_jump_site(void) { return __plait_jump_to; }
int __plait_arrive_by_jump(const void *environment) {
  if (__plait_jump_by != environment)
    __plait_unsupported("a jump to a call of setjmp that was called again since for another jump");
  __plait_frames = __plait_jump_depth;
  __plait_jump_depth = 0;
  __plait_jump_by = NULL;
  return __plait_jump_value;
}

void longjmp(struct __plait_jump *environment, int value) {
  const void *self = environment->self;
  int depth;
  __plait_check("undefined behaviour", self != NULL, "longjmp to where no setjmp was called");
  if (self != environment) __plait_unsupported("longjmp by a copy of what setjmp has set");
  __plait_check("undefined behaviour", environment->thread == __plait_self(),
                "longjmp to a setjmp of another thread");
  depth = environment->depth;
  __plait_check("undefined behaviour", depth >= 1 && depth <= __plait_frames,
                "longjmp to a function that has returned");
  __plait_check("undefined behaviour", environment->number == __plait_numbers[depth - 1],
                "longjmp to a function that has returned");
  /* POSIX.1-2017, pthread_cleanup_pop */
  __plait_check("undefined behaviour", environment->handlers == __plait_cleanup_handlers,
                "longjmp between pthread_cleanup_push and pthread_cleanup_pop, or out of there");
#if PLAIT_SIGNALS
  if (environment->keeps_mask) __plait_restore_signal_mask(environment->mask);
#endif
  __plait_jump_depth = depth;
  __plait_jump_to = environment->site;
  __plait_jump_value = value == 0 ? 1 : value;
  __plait_jump_by = environment;
}
void _longjmp(struct __plait_jump *environment, int value) { longjmp(environment, value); }
void siglongjmp(struct __plait_jump *environment, int value) { longjmp(environment, value); }
void __longjmp_chk(struct __plait_jump *environment, int value) { longjmp(environment, value); }

/* Where nobody jumps, setjmp returns once. */
int setjmp(void *environment) { return 0; }
int _setjmp(void *environment) { return 0; }
int __sigsetjmp(void *environment, int save) { return 0; }
int sigsetjmp(void *environment, int save) { return 0; }
