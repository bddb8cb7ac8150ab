/* What the compiler calls: before every access to memory (-fsanitize=thread), at the beginning and
 * end of functions (-finstrument-functions), and where an operation is undefined.
 *
 * Atomic operations are carried out here. Only one thread runs, so plain code is enough. */
#include "runtime.h"

#include <string.h>

typedef __int128 integer128;

static void access(enum kind kind, const void *address, size_t size, int is_atomic,
                   const void *pc) {
  if (is_initial(address)) return;
  struct operation operation = {.kind = kind, .address = address, .size = size,
                                .is_atomic = is_atomic, .pc = pc, .waits_for = ""};
  point(&operation);
}

void __tsan_init(void) { myself(); }
void __tsan_func_entry(void *pc) { (void)pc; }
void __tsan_func_exit(void) {}

#define PLAIN(size)                                                                              \
  void __tsan_read##size(void *address) { access(READ, address, size, 0, CALLER); }             \
  void __tsan_write##size(void *address) { access(WRITE, address, size, 0, CALLER); }           \
  void __tsan_read_write##size(void *address) { access(UPDATE, address, size, 0, CALLER); }     \
  void __tsan_unaligned_read##size(void *address) { access(READ, address, size, 0, CALLER); }   \
  void __tsan_unaligned_write##size(void *address) { access(WRITE, address, size, 0, CALLER); } \
  void __tsan_unaligned_read_write##size(void *address) {                                       \
    access(UPDATE, address, size, 0, CALLER);                                                   \
  }                                                                                             \
  void __tsan_volatile_read##size(void *address) { access(READ, address, size, 0, CALLER); }    \
  void __tsan_volatile_write##size(void *address) { access(WRITE, address, size, 0, CALLER); }  \
  void __tsan_unaligned_volatile_read##size(void *address) {                                    \
    access(READ, address, size, 0, CALLER);                                                     \
  }                                                                                             \
  void __tsan_unaligned_volatile_write##size(void *address) {                                   \
    access(WRITE, address, size, 0, CALLER);                                                    \
  }
PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

void __tsan_read_range(void *address, size_t size) { access(READ, address, size, 0, CALLER); }
void __tsan_write_range(void *address, size_t size) { access(WRITE, address, size, 0, CALLER); }
void __tsan_vptr_update(void **address, void *value) {
  (void)value;
  access(WRITE, address, sizeof *address, 0, CALLER);
}
void __tsan_vptr_read(void **address) { access(READ, address, sizeof *address, 0, CALLER); }

/* clang calls these for what it copies itself, gcc the plain ones, which are wrapped. */
static void *copy(void *target, const void *source, size_t size, const void *pc) {
  if (size != 0) {
    access(READ, source, size, 0, pc);
    access(WRITE, target, size, 0, pc);
  }
  return memmove(target, source, size);
}
void *__tsan_memcpy(void *target, const void *source, size_t size) {
  return copy(target, source, size, CALLER);
}
void *__tsan_memmove(void *target, const void *source, size_t size) {
  return copy(target, source, size, CALLER);
}
void *__tsan_memset(void *target, int value, size_t size) {
  if (size != 0) access(WRITE, target, size, 0, CALLER);
  return memset(target, value, size);
}

/* clang calls this one for weak operations too, and compares the result with what it wanted. */
#define IF_WEAK "spurious failure, if it is weak"
#define UPDATES(bits, type, name, expression)                                      \
  type __tsan_atomic##bits##_##name(volatile type *address, type value, int order) { \
    (void)order;                                                                   \
    access(UPDATE, (void *)address, sizeof(type), 1, CALLER);                      \
    type old = *address;                                                           \
    *address = (type)(expression);                                                 \
    return old;                                                                    \
  }
#define COMPARES(bits, type, name, is_weak)                                              \
  int __tsan_atomic##bits##_compare_exchange_##name(volatile type *address, type *wanted, \
                                                    type value, int order, int failure) { \
    (void)order, (void)failure;                                                          \
    access(UPDATE, (void *)address, sizeof(type), 1, CALLER);                            \
    type old = *address;                                                                 \
    int fails = (is_weak) && input("spurious failure", 2) == 1;                          \
    if (old == *wanted && !fails) {                                                      \
      *address = value;                                                                  \
      return 1;                                                                          \
    }                                                                                    \
    *wanted = old;                                                                       \
    return 0;                                                                            \
  }
#define ATOMIC(bits, type)                                                          \
  type __tsan_atomic##bits##_load(const volatile type *address, int order) {        \
    (void)order;                                                                    \
    access(READ, (const void *)address, sizeof(type), 1, CALLER);                   \
    return *address;                                                                \
  }                                                                                 \
  void __tsan_atomic##bits##_store(volatile type *address, type value, int order) { \
    (void)order;                                                                    \
    access(WRITE, (void *)address, sizeof(type), 1, CALLER);                        \
    *address = value;                                                               \
  }                                                                                 \
  UPDATES(bits, type, exchange, value)                                              \
  UPDATES(bits, type, fetch_add, old + value)                                       \
  UPDATES(bits, type, fetch_sub, old - value)                                       \
  UPDATES(bits, type, fetch_and, old &value)                                        \
  UPDATES(bits, type, fetch_or, old | value)                                        \
  UPDATES(bits, type, fetch_xor, old ^ value)                                       \
  UPDATES(bits, type, fetch_nand, ~(old & value))                                   \
  COMPARES(bits, type, strong, 0)                                                   \
  COMPARES(bits, type, weak, 1)                                                     \
  type __tsan_atomic##bits##_compare_exchange_val(volatile type *address, type wanted, type value, \
                                                  int order, int failure) {         \
    (void)order, (void)failure;                                                     \
    access(UPDATE, (void *)address, sizeof(type), 1, CALLER);                       \
    type old = *address;                                                            \
    if (old != wanted) return old;                                                  \
    if (input(IF_WEAK, 2) == 1) return (type)~wanted;                               \
    *address = value;                                                               \
    return old;                                                                     \
  }
ATOMIC(8, uint8_t)
ATOMIC(16, uint16_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)
#ifdef __SIZEOF_INT128__
ATOMIC(128, integer128)
#endif

void __tsan_atomic_thread_fence(int order) { (void)order; }
void __tsan_atomic_signal_fence(int order) { (void)order; }

/* --- functions */

static int has_prefix(const char *name, const char *prefix) {
  return strncmp(name, prefix, strlen(prefix)) == 0;
}

static const struct symbol *function_at(const void *function) {
  const struct symbol *symbol = symbol_at(function);
  return symbol != NULL && symbol->address == (uintptr_t)function ? symbol : NULL;
}

void __cyg_profile_func_enter(void *function, void *call_site) {
  const struct symbol *symbol = function_at(function);
  if (symbol == NULL) return;
  if (has_prefix(symbol->name, "__VERIFIER_atomic_")) enter_section(call_site);
  for (int i = 0; i < expected.error_function_count; i++)
    if (strcmp(symbol->name, expected.error_functions[i]) == 0)
      failure("unreach-call", call_site, "%s is called", symbol->name);
}

void __cyg_profile_func_exit(void *function, void *call_site) {
  (void)call_site;
  const struct symbol *symbol = function_at(function);
  if (symbol != NULL && has_prefix(symbol->name, "__VERIFIER_atomic_")) leave_section();
}

/* --- operations: -fsanitize=signed-integer-overflow, or what is undefined in other ways */

static void undefined_operation(const void *pc) {
  if (strcmp(expected.property, "no-undefined") == 0)
    failure("no-undefined", pc, "an operation with operands that it is not defined for");
  failure("no-overflow", pc, "the result of an operation does not fit its type");
}

/* The arguments (where, and the operands) are not looked at: any signature will do. */
#define OVERFLOW(name) \
  void __ubsan_handle_##name(void) { undefined_operation(CALLER); }
#define OVERFLOWS(name) OVERFLOW(name) OVERFLOW(name##_abort)
OVERFLOWS(add_overflow)
OVERFLOWS(sub_overflow)
OVERFLOWS(mul_overflow)
OVERFLOWS(divrem_overflow)
OVERFLOWS(negate_overflow)
OVERFLOWS(shift_out_of_bounds)
