#ifndef PLAIT_SETJMP_H
#define PLAIT_SETJMP_H

struct __jmp_buf_tag {
#ifdef __LP64__
  long __jmpbuf[8];
#else
  int __jmpbuf[6];
#endif
  int __mask_was_saved;
  unsigned long __saved_mask[1024 / (8 * sizeof(unsigned long))];
};
typedef struct __jmp_buf_tag jmp_buf[1];
typedef struct __jmp_buf_tag sigjmp_buf[1];

extern int setjmp(jmp_buf);
extern int _setjmp(struct __jmp_buf_tag *);
extern int __sigsetjmp(struct __jmp_buf_tag *, int);
extern void longjmp(struct __jmp_buf_tag *, int) __attribute__((__noreturn__));
extern void _longjmp(struct __jmp_buf_tag *, int) __attribute__((__noreturn__));
extern void siglongjmp(struct __jmp_buf_tag *, int) __attribute__((__noreturn__));
#define setjmp(env) _setjmp(env)
#define sigsetjmp(env, save) __sigsetjmp(env, save)

#endif
