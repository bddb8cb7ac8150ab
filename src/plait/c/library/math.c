/* The functions of <math.h> whose results IEEE 754 fixes exactly. */
#include "plait.h"

union __plait_bits {
  double value;
  unsigned long long bits;
};
union __plait_float_bits {
  float value;
  unsigned int bits;
};

static unsigned long long __plait_bits_of(double value) {
  union __plait_bits both;
  both.value = value;
  return both.bits;
}
static double __plait_from_bits(unsigned long long bits) {
  union __plait_bits both;
  both.bits = bits;
  return both.value;
}

#define PLAIT_SIGN 0x8000000000000000ULL
#define PLAIT_INFINITY 0x7ff0000000000000ULL

double fabs(double value) { return __plait_from_bits(__plait_bits_of(value) & ~PLAIT_SIGN); }
float fabsf(float value) {
  union __plait_float_bits both;
  both.value = value;
  both.bits = both.bits & 0x7fffffffu;
  return both.value;
}
double copysign(double value, double sign) {
  return __plait_from_bits((__plait_bits_of(value) & ~PLAIT_SIGN) |
                           (__plait_bits_of(sign) & PLAIT_SIGN));
}
double fmax(double one, double other) {
  if (one != one) return other;
  if (other != other) return one;
  return one < other ? other : one;
}
double fmin(double one, double other) {
  if (one != one) return other;
  if (other != other) return one;
  return other < one ? other : one;
}

/* From 2**52 on every double is whole; NaN and infinity are returned as they are. */
double trunc(double value) {
  double size = fabs(value);
  if (!(size < 4503599627370496.0)) return value;
  return copysign((double)(long long)value, value);
}
double floor(double value) {
  double whole = trunc(value);
  return whole > value ? whole - 1.0 : whole;
}
double ceil(double value) {
  double whole = trunc(value);
  return whole < value ? copysign(whole + 1.0, value) : whole;
}
double round(double value) {
  double whole = trunc(value);
  double rest = fabs(value - whole);
  return rest >= 0.5 ? whole + copysign(1.0, value) : whole;
}
/* To the nearest, ties to even: the default rounding mode. */
double rint(double value) {
  double two52 = copysign(4503599627370496.0, value);
  if (!(fabs(value) < 4503599627370496.0)) return value;
  return copysign(value + two52 - two52, value);
}
double nearbyint(double value) { return rint(value); }
float truncf(float value) { return (float)trunc(value); }
float floorf(float value) { return (float)floor(value); }
float ceilf(float value) { return (float)ceil(value); }
float roundf(float value) { return (float)round(value); }
float rintf(float value) { return (float)rint(value); }
float fmaxf(float one, float other) { return (float)fmax(one, other); }
float fminf(float one, float other) { return (float)fmin(one, other); }
long lround(double value) { return (long)round(value); }
long lrint(double value) { return (long)rint(value); }
long long llround(double value) { return (long long)round(value); }
long long llrint(double value) { return (long long)rint(value); }

/* The square root rounded to nearest: one bit of the result at a time. */
double sqrt(double value) {
  unsigned long long bits = __plait_bits_of(value);
  unsigned long long fraction;
  unsigned long long root = 0;
  unsigned long long rest = 0;
  int exponent;
  int step;
  if ((bits & ~PLAIT_SIGN) == 0 || value != value || bits == PLAIT_INFINITY) return value;
  if ((bits & PLAIT_SIGN) != 0) return (value - value) / (value - value);
  exponent = (int)(bits >> 52);
  fraction = bits & 0xfffffffffffffULL;
  if (exponent == 0) {
    exponent = 1;
    while ((fraction >> 52) == 0) {
      fraction = fraction << 1;
      exponent = exponent - 1;
    }
  } else {
    fraction = fraction | 0x10000000000000ULL;
  }
  exponent = exponent - 1023;
  if ((exponent & 1) != 0) {
    fraction = fraction << 1;
    exponent = exponent - 1;
  }
  /* 54 bits of the root of fraction * 2**54, two bits of the operand in each step. */
  for (step = 53; step >= 0; step = step - 1) {
    unsigned long long next = step >= 27 ? fraction >> (2 * (step - 27)) & 3 : 0;
    unsigned long long trial = root << 2 | 1;
    rest = rest << 2 | next;
    root = root << 1;
    if (rest >= trial) {
      rest = rest - trial;
      root = root | 1;
    }
  }
  /* No root lies exactly between two doubles, so the last bit decides. */
  root = (root >> 1) + (root & 1);
  return __plait_from_bits(root + ((unsigned long long)(exponent / 2 + 1022) << 52));
}
/* A double has more than twice the bits of a float, so rounding twice is rounding once. */
float sqrtf(float value) { return (float)sqrt(value); }

int __plait_builtin_isnan(double value) { return value != value; }
int __plait_builtin_isinf(double value) {
  return (__plait_bits_of(value) & ~PLAIT_SIGN) == PLAIT_INFINITY;
}
int __plait_builtin_isinf_sign(double value) {
  if (!__plait_builtin_isinf(value)) return 0;
  return value > 0 ? 1 : -1;
}
int __plait_builtin_isfinite(double value) {
  return (__plait_bits_of(value) & PLAIT_INFINITY) != PLAIT_INFINITY;
}
int __plait_builtin_signbit(double value) { return (__plait_bits_of(value) & PLAIT_SIGN) != 0; }
int __isnan(double value) { return value != value; }
int __isinf(double value) { return __plait_builtin_isinf_sign(value); }
int __finite(double value) { return __plait_builtin_isfinite(value); }
int __signbit(double value) { return __plait_builtin_signbit(value); }
int __isnanf(float value) { return value != value; }
int __isinff(float value) { return __plait_builtin_isinf_sign(value); }
int __signbitf(float value) { return __plait_builtin_signbit(value); }
