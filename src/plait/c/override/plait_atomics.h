/* Atomic builtins as plain named calls.
 *
 * Clang's builtins have no name in its C interface, and it rejects those of gcc on `_Atomic`
 * objects, which gcc's own <stdatomic.h> uses. These macros turn them all into calls that the
 * front end knows. The first argument keeps its type, so the callee's access has the type that it
 * points to; the comma in __typeof__ drops `_Atomic` and qualifiers. Arguments are evaluated once:
 * operands of __typeof__ are not evaluated.
 */
#ifndef PLAIT_ATOMICS_H
#define PLAIT_ATOMICS_H

unsigned long long __plait_atomic_load(const volatile void *, ...);
void __plait_atomic_store(volatile void *, ...);
unsigned long long __plait_atomic_exchange(volatile void *, ...);
int __plait_atomic_compare_exchange(volatile void *, ...);
int __plait_atomic_compare_exchange_weak(volatile void *, ...);
unsigned long long __plait_atomic_cas_value(volatile void *, ...);
unsigned long long __plait_atomic_fetch_add(volatile void *, ...);
unsigned long long __plait_atomic_fetch_sub(volatile void *, ...);
unsigned long long __plait_atomic_fetch_and(volatile void *, ...);
unsigned long long __plait_atomic_fetch_or(volatile void *, ...);
unsigned long long __plait_atomic_fetch_xor(volatile void *, ...);
unsigned long long __plait_atomic_fetch_nand(volatile void *, ...);
unsigned long long __plait_atomic_fetch_min(volatile void *, ...);
unsigned long long __plait_atomic_fetch_max(volatile void *, ...);
unsigned long long __plait_atomic_add_fetch(volatile void *, ...);
unsigned long long __plait_atomic_sub_fetch(volatile void *, ...);
unsigned long long __plait_atomic_and_fetch(volatile void *, ...);
unsigned long long __plait_atomic_or_fetch(volatile void *, ...);
unsigned long long __plait_atomic_xor_fetch(volatile void *, ...);
unsigned long long __plait_atomic_nand_fetch(volatile void *, ...);
unsigned long long __plait_atomic_min_fetch(volatile void *, ...);
unsigned long long __plait_atomic_max_fetch(volatile void *, ...);
void __plait_fence(int);
void __plait_signal_fence(int);

#define __PLAIT_TYPE(p) __typeof__((void)0, *(p))
#define __PLAIT_RMW(name, p, v, mo) \
  ((__PLAIT_TYPE(p))__plait_atomic_##name((p), (__PLAIT_TYPE(p))(v), (mo)))
/* C11 counts elements where an atomic pointer is moved; gcc's builtins count bytes. */
#define __PLAIT_SCALED(p, v) (__PLAIT_TYPE(p))0 + (v)

/* gcc: __atomic_* */
#define __atomic_load_n(p, mo) ((__PLAIT_TYPE(p))__plait_atomic_load((p), (mo)))
#define __atomic_store_n(p, v, mo) __plait_atomic_store((p), (__PLAIT_TYPE(p))(v), (mo))
#define __atomic_exchange_n(p, v, mo) __PLAIT_RMW(exchange, p, v, mo)
#define __atomic_compare_exchange_n(p, e, d, weak, s, f) \
  ((_Bool)((weak) ? __plait_atomic_compare_exchange_weak((p), (e), (__PLAIT_TYPE(p))(d), (s), (f)) \
                  : __plait_atomic_compare_exchange((p), (e), (__PLAIT_TYPE(p))(d), (s), (f))))
#define __atomic_load(p, r, mo) ((void)(*(r) = __atomic_load_n(p, mo)))
#define __atomic_store(p, v, mo) __atomic_store_n(p, *(v), mo)
#define __atomic_exchange(p, v, r, mo) ((void)(*(r) = __atomic_exchange_n(p, *(v), mo)))
#define __atomic_compare_exchange(p, e, d, weak, s, f) \
  __atomic_compare_exchange_n(p, e, *(d), weak, s, f)
#define __atomic_fetch_add(p, v, mo) __PLAIT_RMW(fetch_add, p, v, mo)
#define __atomic_fetch_sub(p, v, mo) __PLAIT_RMW(fetch_sub, p, v, mo)
#define __atomic_fetch_and(p, v, mo) __PLAIT_RMW(fetch_and, p, v, mo)
#define __atomic_fetch_or(p, v, mo) __PLAIT_RMW(fetch_or, p, v, mo)
#define __atomic_fetch_xor(p, v, mo) __PLAIT_RMW(fetch_xor, p, v, mo)
#define __atomic_fetch_nand(p, v, mo) __PLAIT_RMW(fetch_nand, p, v, mo)
#define __atomic_fetch_min(p, v, mo) __PLAIT_RMW(fetch_min, p, v, mo)
#define __atomic_fetch_max(p, v, mo) __PLAIT_RMW(fetch_max, p, v, mo)
#define __atomic_add_fetch(p, v, mo) __PLAIT_RMW(add_fetch, p, v, mo)
#define __atomic_sub_fetch(p, v, mo) __PLAIT_RMW(sub_fetch, p, v, mo)
#define __atomic_and_fetch(p, v, mo) __PLAIT_RMW(and_fetch, p, v, mo)
#define __atomic_or_fetch(p, v, mo) __PLAIT_RMW(or_fetch, p, v, mo)
#define __atomic_xor_fetch(p, v, mo) __PLAIT_RMW(xor_fetch, p, v, mo)
#define __atomic_nand_fetch(p, v, mo) __PLAIT_RMW(nand_fetch, p, v, mo)
#define __atomic_min_fetch(p, v, mo) __PLAIT_RMW(min_fetch, p, v, mo)
#define __atomic_max_fetch(p, v, mo) __PLAIT_RMW(max_fetch, p, v, mo)
#define __atomic_test_and_set(p, mo) \
  ((_Bool)__plait_atomic_exchange((volatile unsigned char *)(p), (unsigned char)1, (mo)))
#define __atomic_clear(p, mo) \
  __plait_atomic_store((volatile unsigned char *)(p), (unsigned char)0, (mo))
#define __atomic_thread_fence(mo) __plait_fence(mo)
#define __atomic_signal_fence(mo) __plait_signal_fence(mo)
#define __atomic_always_lock_free(n, p) ((_Bool)((n) <= 8 && ((n) & ((n) - 1)) == 0))
#define __atomic_is_lock_free(n, p)                \
  (__extension__({                                 \
    __SIZE_TYPE__ __plait_size = (n);              \
    (void)(p);                                     \
    __atomic_always_lock_free(__plait_size, 0);    \
  }))

/* gcc: __sync_*, all of them full barriers except lock_test_and_set and lock_release. Further
 * arguments, the variables to protect, are not evaluated. */
#define __sync_fetch_and_add(p, v, ...) __PLAIT_RMW(fetch_add, p, v, 5)
#define __sync_fetch_and_sub(p, v, ...) __PLAIT_RMW(fetch_sub, p, v, 5)
#define __sync_fetch_and_and(p, v, ...) __PLAIT_RMW(fetch_and, p, v, 5)
#define __sync_fetch_and_or(p, v, ...) __PLAIT_RMW(fetch_or, p, v, 5)
#define __sync_fetch_and_xor(p, v, ...) __PLAIT_RMW(fetch_xor, p, v, 5)
#define __sync_fetch_and_nand(p, v, ...) __PLAIT_RMW(fetch_nand, p, v, 5)
#define __sync_fetch_and_min(p, v, ...) __PLAIT_RMW(fetch_min, p, v, 5)
#define __sync_fetch_and_max(p, v, ...) __PLAIT_RMW(fetch_max, p, v, 5)
#define __sync_add_and_fetch(p, v, ...) __PLAIT_RMW(add_fetch, p, v, 5)
#define __sync_sub_and_fetch(p, v, ...) __PLAIT_RMW(sub_fetch, p, v, 5)
#define __sync_and_and_fetch(p, v, ...) __PLAIT_RMW(and_fetch, p, v, 5)
#define __sync_or_and_fetch(p, v, ...) __PLAIT_RMW(or_fetch, p, v, 5)
#define __sync_xor_and_fetch(p, v, ...) __PLAIT_RMW(xor_fetch, p, v, 5)
#define __sync_nand_and_fetch(p, v, ...) __PLAIT_RMW(nand_fetch, p, v, 5)
#define __sync_val_compare_and_swap(p, e, d, ...) \
  ((__PLAIT_TYPE(p))__plait_atomic_cas_value((p), (__PLAIT_TYPE(p))(e), (__PLAIT_TYPE(p))(d), 5))
/* A typed local holds the expected value, so that neither it nor the address is evaluated twice. */
#define __sync_bool_compare_and_swap(p, e, d, ...)                                         \
  (__extension__({                                                                         \
    __PLAIT_TYPE(p) __plait_expected = (__PLAIT_TYPE(p))(e);                               \
    (_Bool)__plait_atomic_compare_exchange((p), &__plait_expected, (__PLAIT_TYPE(p))(d), 5, 5); \
  }))
#define __sync_lock_test_and_set(p, v, ...) __PLAIT_RMW(exchange, p, v, 2)
#define __sync_lock_release(p, ...) __plait_atomic_store((p), (__PLAIT_TYPE(p))0, 3)
#define __sync_swap(p, v, ...) __PLAIT_RMW(exchange, p, v, 5)
#define __sync_synchronize(...) __plait_fence(5)

/* clang: __c11_atomic_* */
#define __c11_atomic_init(p, v) ((void)(*(__PLAIT_TYPE(p) *)(p) = (v)))
#define __c11_atomic_load(p, mo) __atomic_load_n(p, mo)
#define __c11_atomic_store(p, v, mo) __atomic_store_n(p, v, mo)
#define __c11_atomic_exchange(p, v, mo) __atomic_exchange_n(p, v, mo)
#define __c11_atomic_compare_exchange_strong(p, e, d, s, f) \
  ((_Bool)__plait_atomic_compare_exchange((p), (e), (__PLAIT_TYPE(p))(d), (s), (f)))
#define __c11_atomic_compare_exchange_weak(p, e, d, s, f) \
  ((_Bool)__plait_atomic_compare_exchange_weak((p), (e), (__PLAIT_TYPE(p))(d), (s), (f)))
#define __c11_atomic_fetch_add(p, v, mo) __PLAIT_RMW(fetch_add, p, __PLAIT_SCALED(p, v), mo)
#define __c11_atomic_fetch_sub(p, v, mo) __PLAIT_RMW(fetch_sub, p, __PLAIT_SCALED(p, v), mo)
#define __c11_atomic_fetch_and(p, v, mo) __PLAIT_RMW(fetch_and, p, v, mo)
#define __c11_atomic_fetch_or(p, v, mo) __PLAIT_RMW(fetch_or, p, v, mo)
#define __c11_atomic_fetch_xor(p, v, mo) __PLAIT_RMW(fetch_xor, p, v, mo)
#define __c11_atomic_fetch_nand(p, v, mo) __PLAIT_RMW(fetch_nand, p, v, mo)
#define __c11_atomic_fetch_min(p, v, mo) __PLAIT_RMW(fetch_min, p, v, mo)
#define __c11_atomic_fetch_max(p, v, mo) __PLAIT_RMW(fetch_max, p, v, mo)
#define __c11_atomic_thread_fence(mo) __plait_fence(mo)
#define __c11_atomic_signal_fence(mo) __plait_signal_fence(mo)
#define __c11_atomic_is_lock_free(n) __atomic_is_lock_free(n, 0)

/* Hints and fences of x86 that spin loops use. */
#define __builtin_ia32_pause() ((void)0)
#define __builtin_ia32_mfence() __plait_fence(5)
#define __builtin_ia32_lfence() __plait_fence(2)
#define __builtin_ia32_sfence() __plait_fence(3)

#endif
