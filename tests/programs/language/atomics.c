#include <stdio.h>
#include <stdatomic.h>
#include <stdbool.h>
static atomic_int a = 5; static _Atomic double d = 1.5; static _Atomic(char *) p; static atomic_flag f = ATOMIC_FLAG_INIT;
static _Atomic _Bool ab; static atomic_uchar u8 = 250; static atomic_llong wide = -1; static char text[] = "hello";
static int plain = 3; static unsigned short half = 65535; static long long big = 1;
#define S(x) printf("%lld\n", (long long)(x))
int main(void) {
  S(a++); S(++a); S(a--);
  a += 10; a *= 2; a ^= 3; S(a);
  S(atomic_fetch_add(&a, 4)); S(atomic_load_explicit(&a, memory_order_acquire));
  d += 0.25; d *= 2; printf("%g %g\n", d, atomic_load(&d)); atomic_store(&d, -0.5); printf("%g\n", d);
  printf("%g\n", atomic_exchange(&d, 9.0)); printf("%g\n", d);
  p = text; p++; printf("%s\n", p); atomic_fetch_add(&p, 2); printf("%s\n", p);
  S(atomic_flag_test_and_set(&f)); S(atomic_flag_test_and_set(&f)); atomic_flag_clear(&f); S(atomic_flag_test_and_set(&f));
  ab = 7; u8 += 10; wide -= 5; printf("%d %d %lld\n", ab, u8, wide);
  int expected = 1; bool ok = atomic_compare_exchange_strong(&a, &expected, 100);
  printf("%d %d\n", ok, expected == a); ok = atomic_compare_exchange_strong(&a, &expected, 100); printf("%d %d\n", ok, a);
  S(__sync_fetch_and_add(&plain, 2)); S(__sync_add_and_fetch(&plain, 2)); S(__sync_val_compare_and_swap(&plain, 7, 9));
  S(__sync_bool_compare_and_swap(&plain, 8, 1)); S(plain); S(__sync_bool_compare_and_swap(&plain, 9, 1)); S(plain);
  S(__atomic_fetch_nand(&half, 15, __ATOMIC_SEQ_CST)); S(half);
  S(__atomic_add_fetch(&half, 16, __ATOMIC_RELAXED)); S(__atomic_exchange_n(&half, 5, __ATOMIC_ACQ_REL)); S(half);
  __atomic_store_n(&big, -7, __ATOMIC_RELEASE); S(__atomic_load_n(&big, __ATOMIC_ACQUIRE)); S(__atomic_or_fetch(&big, 4, 5));
  long long got, in = 77; __atomic_exchange(&big, &in, &got, 5); S(got); S(big);
  long long want = 76; S(__atomic_compare_exchange(&big, &want, &in, 0, 5, 5)); S(want);
  atomic_thread_fence(memory_order_seq_cst); __sync_synchronize();
  atomic_init(&a, -3); S(atomic_fetch_sub(&a, 1)); S(a); S(atomic_fetch_xor(&u8, 0xf0)); S(u8);
  S(__atomic_test_and_set(&plain, 5)); __atomic_clear(&plain, 5); S(plain); S(__sync_lock_test_and_set(&plain, 8)); __sync_lock_release(&plain); S(plain);
  return 0;
}
