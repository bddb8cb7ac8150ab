/* SV-COMP's functions. Those that a program defines itself are its own. */
#include "plait.h"

void __VERIFIER_assume(int condition) { __plait_assume(condition); }
void __VERIFIER_atomic_begin(void) { __plait_atomic_begin(); }
void __VERIFIER_atomic_end(void) { __plait_atomic_end(); }

void __VERIFIER_nondet_memory(void *memory, size_t size) { __plait_unknown_bytes(memory, size); }

void __VERIFIER_error(void) {
  __plait_check("assertions", 0, "__VERIFIER_error is called");
  abort();
}
void reach_error(void) {
  __plait_check("assertions", 0, "reach_error is called");
  abort();
}
void __VERIFIER_assert(int condition) {
  if (!condition) {
    __plait_check("assertions", 0, "__VERIFIER_assert fails");
    abort();
  }
}
