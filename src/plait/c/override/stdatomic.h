/* C11 7.17 and C17, on top of plait_atomics.h. */
#ifndef PLAIT_STDATOMIC_H
#define PLAIT_STDATOMIC_H

#include <plait_atomics.h>
#include <stddef.h>
#include <stdint.h>

#define __STDC_VERSION_STDATOMIC_H__ 202311L

#define ATOMIC_BOOL_LOCK_FREE 2
#define ATOMIC_CHAR_LOCK_FREE 2
#define ATOMIC_CHAR16_T_LOCK_FREE 2
#define ATOMIC_CHAR32_T_LOCK_FREE 2
#define ATOMIC_WCHAR_T_LOCK_FREE 2
#define ATOMIC_SHORT_LOCK_FREE 2
#define ATOMIC_INT_LOCK_FREE 2
#define ATOMIC_LONG_LOCK_FREE 2
#define ATOMIC_LLONG_LOCK_FREE 2
#define ATOMIC_POINTER_LOCK_FREE 2

typedef enum {
  memory_order_relaxed,
  memory_order_consume,
  memory_order_acquire,
  memory_order_release,
  memory_order_acq_rel,
  memory_order_seq_cst
} memory_order;

typedef _Atomic(_Bool) atomic_bool;
typedef _Atomic(char) atomic_char;
typedef _Atomic(signed char) atomic_schar;
typedef _Atomic(unsigned char) atomic_uchar;
typedef _Atomic(short) atomic_short;
typedef _Atomic(unsigned short) atomic_ushort;
typedef _Atomic(int) atomic_int;
typedef _Atomic(unsigned int) atomic_uint;
typedef _Atomic(long) atomic_long;
typedef _Atomic(unsigned long) atomic_ulong;
typedef _Atomic(long long) atomic_llong;
typedef _Atomic(unsigned long long) atomic_ullong;
typedef _Atomic(__CHAR16_TYPE__) atomic_char16_t;
typedef _Atomic(__CHAR32_TYPE__) atomic_char32_t;
typedef _Atomic(__WCHAR_TYPE__) atomic_wchar_t;
typedef _Atomic(__INT_LEAST8_TYPE__) atomic_int_least8_t;
typedef _Atomic(__UINT_LEAST8_TYPE__) atomic_uint_least8_t;
typedef _Atomic(__INT_LEAST16_TYPE__) atomic_int_least16_t;
typedef _Atomic(__UINT_LEAST16_TYPE__) atomic_uint_least16_t;
typedef _Atomic(__INT_LEAST32_TYPE__) atomic_int_least32_t;
typedef _Atomic(__UINT_LEAST32_TYPE__) atomic_uint_least32_t;
typedef _Atomic(__INT_LEAST64_TYPE__) atomic_int_least64_t;
typedef _Atomic(__UINT_LEAST64_TYPE__) atomic_uint_least64_t;
typedef _Atomic(__INT_FAST8_TYPE__) atomic_int_fast8_t;
typedef _Atomic(__UINT_FAST8_TYPE__) atomic_uint_fast8_t;
typedef _Atomic(__INT_FAST16_TYPE__) atomic_int_fast16_t;
typedef _Atomic(__UINT_FAST16_TYPE__) atomic_uint_fast16_t;
typedef _Atomic(__INT_FAST32_TYPE__) atomic_int_fast32_t;
typedef _Atomic(__UINT_FAST32_TYPE__) atomic_uint_fast32_t;
typedef _Atomic(__INT_FAST64_TYPE__) atomic_int_fast64_t;
typedef _Atomic(__UINT_FAST64_TYPE__) atomic_uint_fast64_t;
typedef _Atomic(__INTPTR_TYPE__) atomic_intptr_t;
typedef _Atomic(__UINTPTR_TYPE__) atomic_uintptr_t;
typedef _Atomic(__SIZE_TYPE__) atomic_size_t;
typedef _Atomic(__PTRDIFF_TYPE__) atomic_ptrdiff_t;
typedef _Atomic(__INTMAX_TYPE__) atomic_intmax_t;
typedef _Atomic(__UINTMAX_TYPE__) atomic_uintmax_t;

#define ATOMIC_VAR_INIT(value) (value)
#define atomic_init(p, v) __c11_atomic_init(p, v)
#define kill_dependency(y) (y)

#define atomic_thread_fence(mo) __plait_fence(mo)
#define atomic_signal_fence(mo) __plait_signal_fence(mo)
#define atomic_is_lock_free(p) ((void)(p), (_Bool)(sizeof(*(p)) <= 8))

#define atomic_load_explicit(p, mo) __c11_atomic_load(p, mo)
#define atomic_load(p) __c11_atomic_load(p, 5)
#define atomic_store_explicit(p, v, mo) __c11_atomic_store(p, v, mo)
#define atomic_store(p, v) __c11_atomic_store(p, v, 5)
#define atomic_exchange_explicit(p, v, mo) __c11_atomic_exchange(p, v, mo)
#define atomic_exchange(p, v) __c11_atomic_exchange(p, v, 5)
#define atomic_compare_exchange_strong_explicit(p, e, d, s, f) \
  __c11_atomic_compare_exchange_strong(p, e, d, s, f)
#define atomic_compare_exchange_strong(p, e, d) __c11_atomic_compare_exchange_strong(p, e, d, 5, 5)
#define atomic_compare_exchange_weak_explicit(p, e, d, s, f) \
  __c11_atomic_compare_exchange_weak(p, e, d, s, f)
#define atomic_compare_exchange_weak(p, e, d) __c11_atomic_compare_exchange_weak(p, e, d, 5, 5)
#define atomic_fetch_add_explicit(p, v, mo) __c11_atomic_fetch_add(p, v, mo)
#define atomic_fetch_add(p, v) __c11_atomic_fetch_add(p, v, 5)
#define atomic_fetch_sub_explicit(p, v, mo) __c11_atomic_fetch_sub(p, v, mo)
#define atomic_fetch_sub(p, v) __c11_atomic_fetch_sub(p, v, 5)
#define atomic_fetch_and_explicit(p, v, mo) __c11_atomic_fetch_and(p, v, mo)
#define atomic_fetch_and(p, v) __c11_atomic_fetch_and(p, v, 5)
#define atomic_fetch_or_explicit(p, v, mo) __c11_atomic_fetch_or(p, v, mo)
#define atomic_fetch_or(p, v) __c11_atomic_fetch_or(p, v, 5)
#define atomic_fetch_xor_explicit(p, v, mo) __c11_atomic_fetch_xor(p, v, mo)
#define atomic_fetch_xor(p, v) __c11_atomic_fetch_xor(p, v, 5)

typedef struct atomic_flag {
  atomic_bool _Value;
} atomic_flag;

#define ATOMIC_FLAG_INIT {0}
#define atomic_flag_test_and_set_explicit(f, mo) __c11_atomic_exchange(&(f)->_Value, 1, mo)
#define atomic_flag_test_and_set(f) __c11_atomic_exchange(&(f)->_Value, 1, 5)
#define atomic_flag_clear_explicit(f, mo) __c11_atomic_store(&(f)->_Value, 0, mo)
#define atomic_flag_clear(f) __c11_atomic_store(&(f)->_Value, 0, 5)

#endif
