// Atomic operations of all sizes, in one thread.
// expect assertions: true
#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

_Atomic signed char tiny = 127;
_Atomic unsigned short narrow = 65535;
atomic_int number = 5;
atomic_ullong wide = 1ull << 40;
atomic_bool truth;
int numbers[4];
_Atomic(int *) place = numbers;
unsigned char byte = 0xf0;
long word = 1;
short *pointer;

int main(void) {
  assert(atomic_fetch_add(&tiny, 1) == 127 && tiny == -128);
  assert(atomic_fetch_add(&narrow, 2) == 65535 && narrow == 1);
  assert(atomic_fetch_sub(&number, 7) == 5 && number == -2);
  assert(atomic_fetch_or(&wide, 3) == 1ull << 40 && wide == (1ull << 40 | 3));
  assert(atomic_fetch_and(&wide, 1) == (1ull << 40 | 3) && wide == 1);
  assert(atomic_fetch_xor(&wide, ~0ull) == 1 && wide == ~1ull);
  assert(atomic_exchange(&truth, true) == false && truth);
  assert(atomic_exchange(&place, &numbers[1]) == numbers && place == numbers + 1);
  int expected = 3;
  assert(!atomic_compare_exchange_strong(&number, &expected, 9) && expected == -2);
  assert(atomic_compare_exchange_strong(&number, &expected, 9) && number == 9);
  atomic_init(&number, 4);
  assert(number++ == 4 && --number == 4 && (number += 3) == 7 && (number *= 2) == 14);

  assert(__atomic_fetch_nand(&byte, 0x30, __ATOMIC_SEQ_CST) == 0xf0 && byte == 0xcf);
  assert(__atomic_xor_fetch(&byte, 0xff, __ATOMIC_SEQ_CST) == 0x30);
  assert(__sync_val_compare_and_swap(&word, 1, 2) == 1 && word == 2);
  assert(!__sync_bool_compare_and_swap(&word, 1, 3) && word == 2);
  assert(__sync_bool_compare_and_swap(&word, 2, 3) && word == 3);
  assert(__sync_add_and_fetch(&word, -5) == -2 && __sync_fetch_and_sub(&word, 1) == -2);
  assert(__sync_lock_test_and_set(&word, 8) == -3);
  __sync_lock_release(&word);
  assert(word == 0);
  long next = 6, old;
  __atomic_store(&word, &next, __ATOMIC_RELEASE);
  __atomic_load(&word, &old, __ATOMIC_ACQUIRE);
  assert(old == 6);
  next = 7;
  __atomic_exchange(&word, &next, &old, __ATOMIC_ACQ_REL);
  assert(word == 7 && old == 6);
  assert(!__atomic_compare_exchange(&word, &old, &next, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
  assert(old == 7);
  bool flag = false;
  assert(!__atomic_test_and_set(&flag, __ATOMIC_SEQ_CST) && flag);
  __atomic_clear(&flag, __ATOMIC_SEQ_CST);
  assert(!flag);
  /* gcc's builtins move pointers by bytes. */
  __atomic_store_n(&pointer, (short *)numbers, __ATOMIC_SEQ_CST);
  assert(__atomic_add_fetch(&pointer, sizeof(short), __ATOMIC_SEQ_CST) == (short *)numbers + 1);
  int evaluated = 0;
  atomic_fetch_add(&number, ++evaluated);
  atomic_store(&number, ++evaluated);
  assert(evaluated == 2 && number == 2);
  atomic_thread_fence(memory_order_seq_cst);
  atomic_signal_fence(memory_order_seq_cst);
  __sync_synchronize();
  assert(atomic_is_lock_free(&number));
  return 0;
}
