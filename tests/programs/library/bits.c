// Builtins that count and swap.
// expect assertions: true
#include <assert.h>
#include <strings.h>

int main(void) {
  volatile unsigned value = 0x00f0;
  volatile unsigned long long wide = 1ull << 40;
  assert(__builtin_popcount(value) == 4 && __builtin_ctz(value) == 4);
  assert(__builtin_clz(value) == 24 && __builtin_clzll(wide) == 23);
  assert(__builtin_ctzll(wide) == 40 && __builtin_parity(value) == 0);
  assert(__builtin_popcountl(value) == 4 && __builtin_clzl(1ul) == 8 * sizeof(long) - 1);
  assert(__builtin_bswap32(value) == 0xf0000000u && __builtin_bswap16((unsigned short)value) == 0xf000);
  assert(__builtin_bswap64(wide) == 1ull << 16 << 1 >> 1);
  assert(ffs((int)value) == 5 && ffs(0) == 0 && __builtin_ffs(1) == 1);
  return 0;
}
