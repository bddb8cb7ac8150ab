/* Cleanup handlers, which pthread_exit runs, the latest first. */
#include "plait.h"

#define PLAIT_HANDLERS 16

static _Thread_local void (*__plait_routines[PLAIT_HANDLERS])(void *);
static _Thread_local void *__plait_arguments[PLAIT_HANDLERS];
_Thread_local int __plait_cleanup_handlers;

void __plait_cleanup_pop(int execute) {
  int number = __plait_cleanup_handlers - 1;
  void *argument = __plait_arguments[number];
  __plait_cleanup_handlers = number;
  __plait_arguments[number] = NULL; /* it keeps nothing reachable */
  if (execute) __plait_routines[number](argument);
}

static void __plait_run_handlers(void) {
  while (__plait_cleanup_handlers > 0) __plait_cleanup_pop(1);
}

void __plait_cleanup_push(void (*routine)(void *), void *argument) {
  int number = __plait_cleanup_handlers;
  if (number == PLAIT_HANDLERS) __plait_unsupported("more than 16 nested cleanup handlers");
  __plait_routines[number] = routine;
  __plait_arguments[number] = argument;
  __plait_cleanup_handlers = number + 1;
  __plait_run_cleanup_handlers = __plait_run_handlers;
}

/* glibc's macros keep the handlers in code behind setjmp; there pthread_exit is not supported. */
static _Thread_local int __plait_registered;

static void __plait_refuse(void) {
  if (__plait_registered > 0)
    __plait_unsupported("pthread_exit between pthread_cleanup_push and pthread_cleanup_pop");
}
void __pthread_register_cancel(void *buffer) {
  __plait_registered = __plait_registered + 1;
  __plait_run_cleanup_handlers = __plait_refuse;
}
void __pthread_unregister_cancel(void *buffer) { __plait_registered = __plait_registered - 1; }
void __pthread_unwind_next(void *buffer) { __plait_unsupported("thread cancellation"); }

/* The handlers are behind its second return. */
int __sigsetjmp_cancel(void *environment, int save) { return 0; }
