/* Builtins of gcc and clang that are not constant: `__builtin_NAME` is found under these names. */
#include "plait.h"

int __plait_builtin_popcountll(unsigned long long value) {
  int count = 0;
  while (value != 0) {
    value = value & (value - 1);
    count = count + 1;
  }
  return count;
}
int __plait_builtin_popcount(unsigned int value) { return __plait_builtin_popcountll(value); }
int __plait_builtin_popcountl(unsigned long value) { return __plait_builtin_popcountll(value); }
int __plait_builtin_parity(unsigned int value) { return __plait_builtin_popcountll(value) & 1; }
int __plait_builtin_parityl(unsigned long value) { return __plait_builtin_popcountll(value) & 1; }
int __plait_builtin_parityll(unsigned long long value) {
  return __plait_builtin_popcountll(value) & 1;
}

/* Undefined for 0. */
int __plait_builtin_ctzll(unsigned long long value) {
  int count = 0;
  __plait_check("undefined behaviour", value != 0, "count of the trailing zeros of 0");
  while ((value & 1) == 0) {
    value = value >> 1;
    count = count + 1;
  }
  return count;
}
int __plait_builtin_ctz(unsigned int value) { return __plait_builtin_ctzll(value); }
int __plait_builtin_ctzl(unsigned long value) { return __plait_builtin_ctzll(value); }

/* Undefined for 0. */
int __plait_builtin_clzll(unsigned long long value) {
  int count = 0;
  __plait_check("undefined behaviour", value != 0, "count of the leading zeros of 0");
  while ((value >> 63) == 0) {
    value = value << 1;
    count = count + 1;
  }
  return count;
}
int __plait_builtin_clz(unsigned int value) { return __plait_builtin_clzll(value) - 32; }
int __plait_builtin_clzl(unsigned long value) {
  return __plait_builtin_clzll(value) - 8 * (int)(8 - sizeof(long));
}

int ffsll(long long value) {
  return value == 0 ? 0 : __plait_builtin_ctzll((unsigned long long)value) + 1;
}
int ffs(int value) { return value == 0 ? 0 : __plait_builtin_ctzll((unsigned int)value) + 1; }
int ffsl(long value) { return value == 0 ? 0 : __plait_builtin_ctzll((unsigned long)value) + 1; }

unsigned short __plait_builtin_bswap16(unsigned short value) {
  return (unsigned short)(value >> 8 | value << 8);
}
unsigned int __plait_builtin_bswap32(unsigned int value) {
  return value >> 24 | (value >> 8 & 0xff00u) | (value & 0xff00u) << 8 | value << 24;
}
unsigned long long __plait_builtin_bswap64(unsigned long long value) {
  return (unsigned long long)__plait_builtin_bswap32((unsigned int)value) << 32 |
         __plait_builtin_bswap32((unsigned int)(value >> 32));
}

/* Network byte order. */
unsigned short htons(unsigned short value) { return __plait_builtin_bswap16(value); }
unsigned short ntohs(unsigned short value) { return __plait_builtin_bswap16(value); }
unsigned int htonl(unsigned int value) { return __plait_builtin_bswap32(value); }
unsigned int ntohl(unsigned int value) { return __plait_builtin_bswap32(value); }
