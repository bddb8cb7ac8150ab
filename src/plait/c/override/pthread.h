/* glibc's cleanup macros need setjmp; these tell the library which handlers are there. */
#include_next <pthread.h>

#ifndef PLAIT_CLEANUP
#define PLAIT_CLEANUP

extern void __plait_cleanup_push(void (*)(void *), void *);
extern void __plait_cleanup_pop(int);

#undef pthread_cleanup_push
#undef pthread_cleanup_pop
#undef pthread_cleanup_push_defer_np
#undef pthread_cleanup_pop_restore_np
#define pthread_cleanup_push(routine, argument) \
  do {                                          \
    __plait_cleanup_push((routine), (argument));
#define pthread_cleanup_pop(execute) \
    __plait_cleanup_pop(execute);    \
  } while (0)
#define pthread_cleanup_push_defer_np(routine, argument) pthread_cleanup_push(routine, argument)
#define pthread_cleanup_pop_restore_np(execute) pthread_cleanup_pop(execute)

#endif
