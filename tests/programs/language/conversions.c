#include <stdio.h>
#include <stdint.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>
struct B { signed a : 4; unsigned b : 4; int c : 31; unsigned long long d : 33; _Bool e : 1; short f : 9; char g; long long h : 50; };
struct L { struct L *next; int v; };
struct W { char pad; struct L link; };
#define container_of(p, t, m) ((t *)((char *)(p) - offsetof(t, m)))
static int apply(int (*f)(int, int), int a, int b) { return f(a, b); }
static int add(int a, int b) { return a + b; }
static int mul(int a, int b) { return a * b; }
static struct B mk(int a) { struct B b = {0}; b.a = a; b.c = -a; return b; }
static struct L pass(struct L l) { l.v++; return l; }
int main(void) {
  signed char sc = 200; unsigned char uc = 300; short sh = 70000; unsigned short us = -1;
  int i = 3000000000u; unsigned u = -1; long long ll = -1; unsigned long long ull = -1;
  printf("%d %d %d %d %d %u %lld %llu\n", sc, uc, sh, us, i, u, ll, ull);
  printf("%d %d %d %d\n", -1 < 1u, sc < us, (unsigned char)-1 > 0, -1L < 1u);
  uc += 300; sc -= 100; us *= us; sh <<= 3; uc >>= 1; i /= -7; u %= 10; ll ^= 0xff; ull |= 1; uc = ~uc;
  printf("%d %d %d %d %d %u %lld %llu\n", sc, uc, us, sh, i, u, ll, ull);
  i = INT_MAX; i++; printf("%d %d %d\n", i, -i, i - 1);
  printf("%d %d %d %d\n", -7 / 2, -7 % 2, 7 / -2, 7 % -2);
  printf("%d %d %u %d\n", -8 >> 1, 1 << 31, 0x80000000u >> 31, (signed char)0x80 >> 3);
  double d = 1e9 + 0.5; float f = 16777217; printf("%d %.9g %.17g %d\n", (int)d, f, (double)0.1f, (int)-2.9);
  f = 1; f /= 3; d = f; d += 1; i = 7; i *= 1.5; i += 0.9; printf("%.9g %.17g %d\n", f, d, i);
  uc = 250; uc++; uc += 10; printf("%d %d\n", uc, uc++ + ++uc);
  _Bool b = 5; b++; b -= 1; printf("%d %d %d\n", b, (_Bool)0.5, (_Bool)&b);
  struct B x = {0};
  x.a = 9; x.b = 31; x.c = 0x7fffffff; x.d = -1; x.e = 2; x.f = 300; x.g = 77; x.h = -5;
  printf("%d %d %d %llx %d %d %d %lld %d\n", x.a, x.b, x.c, (unsigned long long)x.d, x.e, x.f, x.g, (long long)x.h, (int)sizeof x);
  x.a++; x.b--; x.c += 5; x.d <<= 2; x.f *= 3; x.h -= 1;
  printf("%d %d %d %llx %d %lld %d\n", x.a, x.b, x.c, (unsigned long long)x.d, x.f, (long long)x.h, x.b - 20 < 0);
  struct B y = x; y.b = 3; struct B z = mk(5);
  printf("%d %d %d %d %d\n", x.b, y.b, y.g, z.a, z.c);
  union { float f; unsigned u; unsigned char c[4]; } pun; pun.f = -1.5f;
  printf("%x %d %d\n", pun.u, pun.c[3], pun.c[2]);
  struct W w = {1, {0, 42}}; struct L *l = &w.link; l->next = l;
  printf("%d %d\n", container_of(l, struct W, link)->pad, l->next->next->v);
  struct L l2 = pass(*l); printf("%d %d\n", l2.v, pass(pass(l2)).v);
  int (*ops[])(int, int) = {add, mul, &add}; printf("%d %d %d\n", apply(ops[0], 3, 4), apply(*ops[1], 3, 4), (**ops[2])(1, 1));
  int arr[10]; int *p = arr + 3, *q = &arr[7]; int **pp = &p; *pp += 1;
  printf("%ld %d %d %d\n", (long)(q - p), p < q, q == arr + 7, (char *)q - (char *)p == 12);
  uintptr_t addr = (uintptr_t)q; printf("%d %d\n", (int *)(addr - 4) == q - 1, (int)((addr & 3) == 0));
  memset(arr, 0xff, sizeof arr); arr[9] = 1; char buf[40]; memcpy(buf, arr, 40); printf("%d %d\n", arr[0], memcmp(buf, arr, 40));
  unsigned char bytes[8] = {1, 2, 3, 4, 5, 6, 7, 8}; printf("%x %llx\n", *(unsigned *)(bytes + 1), *(unsigned long long *)bytes);
  __int128 big = (__int128)1 << 100; big += 5; printf("%llx %llx %d\n", (unsigned long long)(big >> 64), (unsigned long long)big, big > 0);
  char c = 'A'; c += c > 60 ? 1 : 2; printf("%c %d %d\n", c, '\377', '\x41');
  printf("%d %d %d\n", (int)sizeof(char), (int)sizeof('a'), (int)sizeof(1 ? 1 : 1.0));
  printf("%lu %d\n", (unsigned long)INT_MIN, (int)(INT_MIN + 0u == 2147483648u));
  long arr2[2][3] = {{1, 2, 3}, {4, 5, 6}}; long (*row)[3] = arr2 + 1; printf("%ld %ld %d\n", (*row)[1], row[-1][2], (int)sizeof *row);
  const volatile int cv = 3; volatile int v = cv; v += v; printf("%d\n", v);
  unsigned long long h = 0xcbf29ce484222325ULL; for (int k = 0; k < 5; k++) { h ^= k; h *= 0x100000001b3ULL; } printf("%llx\n", h);
  return 0;
}
