/* Arguments that a builtin ignores are still evaluated, once, unless it says that they are not. */
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static int c;
static int next(void) { return ++c; }
static int order(int memory_order) {
  c++;
  return memory_order;
}
static int first_argument(int count, ...) {
  va_list lists[1];
  int value;
  va_start(lists[0], count);
  value = va_arg(lists[0], int);
  va_end(lists[c++]);
  return value;
}

#define SHOW(...)                      \
  do {                                 \
    c = 0;                             \
    __VA_ARGS__;                       \
    printf("%d: %d\n", __LINE__, c);   \
  } while (0)

int main(void) {
  int x = 0, y = 1, expected = 0, result;
  char flag = 0, text[4] = "abc", other[4];
  atomic_int atom = 0;
  atomic_flag c11_flag = ATOMIC_FLAG_INIT;
  int numbers[9] = {0};

  SHOW(c = 4; __atomic_store_n(&x, 1, ++c));
  SHOW(__atomic_store_n(&x, 1, order(3)));
  SHOW(__atomic_store(&x, &y, order(0)));
  SHOW((void)__atomic_load_n(&x, ++c));
  SHOW((void)__atomic_load_n(&x, next()));
  SHOW(__atomic_load(&x, &y, next()));
  SHOW((void)__atomic_exchange_n(&x, 1, next()));
  SHOW(__atomic_exchange(&x, &y, &result, ++c));
  SHOW((void)__atomic_compare_exchange_n(&x, &expected, 1, 0, ++c, next()));
  SHOW((void)__atomic_compare_exchange_n(&x, &expected, 1, next(), 5, 5));
  SHOW((void)__atomic_compare_exchange_n(&x, &expected, 1, 1, next(), order(5)));
  SHOW((void)__atomic_compare_exchange(&x, &expected, &y, 0, order(2), 5));
  SHOW((void)__atomic_fetch_add(&x, next(), next()));
  SHOW((void)__atomic_add_fetch(&x, ++c, 5));
  SHOW((void)__atomic_fetch_nand(&x, 1, ++c));
  SHOW((void)__atomic_test_and_set(&flag, ++c));
  SHOW(__atomic_clear(&flag, order(5)));
  SHOW(__atomic_thread_fence(++c));
  SHOW(__atomic_signal_fence(next()));
  SHOW((void)__atomic_is_lock_free(next() + 3, 0));
  SHOW((void)__atomic_is_lock_free(4, (char *)0 + next()));
  SHOW((void)__sync_fetch_and_add(&x, next(), next()));
  SHOW(__sync_lock_release(&x, next()));
  SHOW((void)__sync_bool_compare_and_swap(&x, ++c, 1, next()));
  SHOW((void)__sync_val_compare_and_swap(&x, next(), next()));
  SHOW(atomic_store_explicit(&atom, 1, order(0)));
  SHOW((void)atomic_load_explicit(&atom, order(2)));
  SHOW((void)atomic_fetch_sub_explicit(&atom, next(), order(4)));
  SHOW((void)atomic_compare_exchange_strong_explicit(&atom, &expected, 1, order(5), order(5)));
  SHOW((void)atomic_flag_test_and_set_explicit(&c11_flag, order(5)));
  SHOW(atomic_flag_clear_explicit(&c11_flag, order(3)));
  SHOW(atomic_thread_fence(order(4)));
  SHOW(atomic_signal_fence(order(1)));
  SHOW((void)atomic_is_lock_free((next(), &atom)));
  SHOW((void)kill_dependency(next()));
  SHOW(__builtin_prefetch(&numbers[next()]));
  SHOW(__builtin___clear_cache(text + next(), text + 3));
  SHOW((void)__builtin_expect(next(), 1));
  SHOW((void)__builtin_assume_aligned(&x, 4, next() - 1));
  SHOW((void)__builtin_constant_p(++c));
  SHOW((void)__builtin_object_size((next(), text), 0));
  SHOW((void)__builtin_classify_type(next()));
  SHOW(result = __builtin_popcount((++c, 5)); printf("%d ", result));
  SHOW(result = __builtin_clz((next(), 5)); printf("%d ", result));
  SHOW(result = __builtin_ffs((next(), 4)); printf("%d ", result));
  SHOW(result = __builtin_abs((next(), -4)); printf("%d ", result));
  SHOW(result = (int)__builtin_bswap32((++c, 5)); printf("%d ", result));
  SHOW(result = (int)__builtin_strlen((next(), "abc")); printf("%d ", result));
  SHOW((void)__builtin_nan((next(), "")));
  SHOW(result = __builtin_isnan((next(), 1.0)); printf("%d ", result));
  SHOW((void)__builtin_add_overflow(next(), next(), &result); printf("%d ", result));
  SHOW(__builtin_memcpy(other, text, (next(), 4)));
  SHOW((void)__builtin_alloca(next()));
  SHOW(__builtin_choose_expr(1, (void)next(), (void)0));
  SHOW(__builtin_choose_expr(0, (void)next(), (void)(c += 2)));
  SHOW(result = __builtin_choose_expr(sizeof(next()) == 4, 1, next()));
  SHOW(result = sizeof(next()));
  SHOW(result = _Alignof(int[next()]));
  SHOW(__typeof__(next()) unused = 0; (void)unused);
  SHOW(result = _Generic(next(), int: next(), default: 2));
  SHOW(result = first_argument(1, 7); printf("%d ", result));
  return 0;
}
