/* Further constructs that once were lowered wrongly. */
#include <stdio.h>
struct S { int a; int v[3]; };
static int calls;
static int f(void) { return ++calls; }
static struct S g(struct S s) { s.a += 10; s.v[1]++; return s; }
#define ONCE(x) ({ __label__ out; int r_ = 1; if (x) goto out; r_ = 2; out:; r_; })
static int deep(int x) { return x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x; }
inline int twice(int x) { return 2 * x; }
extern int twice(int x);
static int y;
unsigned long ptrs[] = {(unsigned long)&y + 4, 7, (unsigned long)&ptrs[1] - 8};
int main(void) {
  int xx = 7; printf("%d %d %d %d\n", __builtin_types_compatible_p(__typeof__(xx), int), __builtin_types_compatible_p(__typeof__(xx++), long), __builtin_types_compatible_p(__typeof__(&xx), int *), xx);
  struct S chosen = __builtin_choose_expr(1, ((struct S){9}), 0); printf("%d %d %d %d\n", chosen.a, (int)(ptrs[0] == (unsigned long)(&y + 1)), (int)ptrs[1], ptrs[2] == (unsigned long)ptrs);
  printf("%d\n", 1 < 2 < 3);
  int r[4] = {[0 ... 2] = f(), f()};
  printf("%d %d %d %d\n", r[0], r[1], r[2], r[3]);
  struct S s = {1, {2, 3, 4}}, t = g(g(s));
  printf("%d %d %d %d\n", s.a, t.a, t.v[1], g(s).v[2]);
  int a = ONCE(0), b = ONCE(1);
  printf("%d %d %d %d\n", a, b, deep(3), twice(4));
  int *p = 0;
  if (a) p = (int[]){3, 4}; else p = (int[]){5, 6};
  for (int i = 0; i < 2; i++) if (i) a += i; else b += ({ int k = i; k + 2; });
  printf("%d %d %d\n", a, b, p != 0);
  _Atomic int at = 20; at /= 3; at <<= 2; at %= 5; printf("%d\n", at);
  double d = 3.99; int i = d; unsigned char c = 255.9; long long ll = -9.5e15; printf("%d %d %lld %d\n", i, c, ll, (int)-0.99);
  return 0;
}
