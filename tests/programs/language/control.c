#include <stdio.h>
#include <stdarg.h>
#include <string.h>
static int trace;
static int note(int v) { trace = trace * 10 + v; return v; }
static int duff(int n) {
  int count = 0;
  int k = (n + 3) / 4;
  switch (n % 4) {
  case 0: do { count += 1;
  case 3: count += 10;
  case 2: count += 100;
  case 1: count += 1000;
          } while (--k > 0);
  }
  return count;
}
static int sel(int v) {
  switch (v) {
  case 1 ... 3: return 1;
  case -5: v = 7; /* fall through */
  case 8: v++; break;
  default: { int inner = v * 2; v = inner; }
  case 100: v += 1;
  }
  return v;
}
static int gotos(int n) {
  int i = 0, s = 0;
again:
  { int square = i * i; s += square; if (s > 1000) goto out; }
  if (++i < n) goto again;
out:
  return s;
}
static int computed(int n) {
  static void *table[] = {&&zero, &&one, &&two};
  int r = 0;
  goto *table[n];
zero: r += 1;
one: r += 10;
two: r += 100;
  return r;
}
static int sum(int n, ...) {
  va_list ap, aq;
  int s = 0;
  va_start(ap, n);
  va_copy(aq, ap);
  for (int i = 0; i < n; i++) s += va_arg(ap, int);
  va_end(ap);
  s = s * 1000 + va_arg(aq, int);
  va_end(aq);
  return s;
}
struct Big { long a, b, c; };
static double mixed(const char *kinds, ...) {
  va_list ap;
  double r = 0;
  va_start(ap, kinds);
  for (; *kinds; kinds++) {
    if (*kinds == 'd') r += va_arg(ap, double);
    else if (*kinds == 'l') r += va_arg(ap, long long);
    else if (*kinds == 's') r += strlen(va_arg(ap, char *));
    else if (*kinds == 'b') { struct Big b = va_arg(ap, struct Big); r += b.a + b.c; }
  }
  va_end(ap);
  return r;
}
static int vsum(int n, va_list ap) { int s = 0; while (n--) s += va_arg(ap, int); return s; }
static int outer(int n, ...) { va_list ap; va_start(ap, n); int r = vsum(n, ap); va_end(ap); return r; }
static int fact(int n) { return n <= 1 ? 1 : n * fact(n - 1); }
static int even(int n);
static int odd(int n) { return n == 0 ? 0 : even(n - 1); }
static int even(int n) { return n == 0 ? 1 : odd(n - 1); }
int oldstyle(a, b) int a; char b; { return a + b; }
#define kind(x) _Generic((x), int: "int", char *: "string", double: "double", default: "other")
#define max(a, b) ({ __typeof__(a) _a = (a); __typeof__(b) _b = (b); _a > _b ? _a : _b; })
#define LOOP(init, cond, step) for (init; cond; step)
_Static_assert(sizeof(int) == 4, "int");
int main(void) {
  int i, n = 0;
  for (;;) { if (++n == 3) break; }
  for (i = 0;; i++) if (i == 4) break;
  for (; n < 10;) n += 3;
  for (i = 0; i < 3;) i += 2;
  LOOP(, n < 20, n++);
  printf("%d %d\n", n, i);
  printf("%d %d %d %d\n", duff(4), duff(6), duff(9), sel(2));
  printf("%d %d %d %d\n", sel(-5), sel(8), sel(50), sel(100));
  printf("%d %d %d %d\n", gotos(5), computed(0), computed(1), computed(2));
  printf("%d %d %g\n", sum(3, 1, 2, 3), outer(2, 5, 6), mixed("dlsb", 1.5, 7LL, "four", (struct Big){1, 2, 3}));
  printf("%d %d %d %d\n", fact(10), odd(7), even(7), oldstyle(1, 'a'));
  printf("%s %s %s %s\n", kind(1), kind("s"), kind(1.0), kind(1L));
  printf("%d %ld\n", max(3, note(4)), (long)max(5L, 2L));
  trace = 0;
  int r = note(0) && note(1);
  r = r * 2 + (note(2) || note(3));
  r = r * 2 + (note(0) || note(4) && note(0));
  r = r * 10 + (note(5) ? note(6) : note(7)) + (note(0) ?: note(8));
  r = (note(1), note(2), r) + !note(3) + (note(4) && note(5) ? note(6) : 0);
  printf("%d %d\n", r, trace);
  int arr[4] = {1, 2, 3, 4}, *p = arr;
  *p++ += 5; (*p)++; p[1]--; --*(p + 2); i = *p++ + 2[arr];
  printf("%d %d %d %d %d %ld\n", arr[0], arr[1], arr[2], arr[3], i, (long)(p - arr));
  do { int k = i; if (k > 20) { i++; continue; } i += 7; } while (i < 30);
  while (1) { if (i-- < 10) break; else continue; }
  printf("%d\n", i);
  int len = 3;
  int vla[len + 1];
  for (int k = 0; k <= len; k++) vla[k] = k * k;
  printf("%d %d\n", vla[3], (int)sizeof vla);
  char *ap = __builtin_alloca(8);
  memset(ap, 3, 8);
  printf("%d %s %d\n", ap[7], __func__, __builtin_expect(len, 3));
  int over, ov = __builtin_add_overflow(2147483647, 1, &over);
  printf("%d %d %d %d %d\n", ov, over, __builtin_popcount(255), __builtin_ctz(8), __builtin_clz(1));
  return 0;
}
