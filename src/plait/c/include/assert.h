/* Included again, it follows the NDEBUG of that place: no guard. */
#undef assert
#ifdef NDEBUG
#define assert(expression) ((void)0)
#else
#define assert(expression) \
  ((expression) ? (void)0 : __assert_fail(#expression, __FILE__, __LINE__, __func__))
#endif

#ifndef PLAIT_ASSERT_H
#define PLAIT_ASSERT_H

extern void __assert_fail(const char *, const char *, unsigned int, const char *)
    __attribute__((__noreturn__));
extern void __assert_perror_fail(int, const char *, unsigned int, const char *)
    __attribute__((__noreturn__));
extern void __assert(const char *, const char *, int) __attribute__((__noreturn__));

#if !defined __cplusplus && __STDC_VERSION__ < 202311L
#define static_assert _Static_assert
#endif

#endif
