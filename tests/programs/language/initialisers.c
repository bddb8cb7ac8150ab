#include <stdio.h>
#include <stddef.h>
struct P { int x, y; };
struct S { int a, b[3]; struct { int u; union { char c; int d; }; }; unsigned bf : 3; struct S *n; };
enum E { A, B = 7, C };
struct S g = { .b = {1, [2] = 5}, .u = 3, .c = 'a', .bf = 9 };
struct S arr[] = { [1 ... 3] = {1}, {.n = &g} };
int m[2][3] = {1, 2, 3, 4};
int mm[3][2] = {[1][1] = 5, 6, [0] = {9}};
struct P nested[2][2] = {{{1, 2}, {3}}, {[1].y = 8}};
char str[] = "ab\n\0c" "d";
char exact[3] = "xyz";
char padded[6] = "q";
char *ps = "x" "y";
int *into = &m[1][0];
int *past = m[1] - 1;
struct Q { struct P p, q; int z; } deep = { .p.y = 4, 5, 6, 7 };
struct Q elided = {1, 2, 3, 4, 5};
struct Flex { int n; int data[]; } flex = {2, {10, 20}};
union U { int i; char c[4]; float f; } un = {.c = {1, 2, 3, 4}}, un2 = {5};
struct { unsigned a : 3; unsigned : 2; int b : 5; unsigned long long c : 40; } bits = {5, -3, 0x123456789aULL};
double table[3] = {1.5, 1.0 / 3.0, -2};
float single[2] = {0.1f, 1e10};
static int half(int v) { return v / 2; }
int (*fp)(int) = half;
long diff = (char *)&g.n - (char *)&g;
unsigned long size = sizeof(struct S) + offsetof(struct S, b[1]);
_Bool flags[3] = {2, 0, 1};
const char *names[] = {[A] = "a", [B] = "b", [C] = "c"};
static struct P *lit = &(struct P){7, 8};
static int *litarr = (int[]){4, 5, 6};
struct Anon { struct { int p; union { int q; long r; }; }; int s; } an = {1, 2, 3};
struct Anon an2 = {.q = 4, 5};
wchar_t wide[] = L"h\u00e9";

static void local(int k) {
  int a[5] = {k, [3] = k + 1};
  struct Q s = {.q = {k}, .z = k * 2};
  struct Q t = s;
  char text[8] = "hey";
  struct P ps2[2] = {{k, 1}, {.y = k}};
  struct P p = ps2[1], q = (struct P){.y = 3};
  int big[40] = {1, 2};
  union U u = {.f = 1.0f};
  static int counter = 5;
  static const struct P sp = {1, 2};
  int empty[2] = {};
  int sum = 0;
  for (int i = 0; i < 40; i++) sum += big[i];
  counter += k;
  printf("%d %d %d %d %d | %d %d %d | %s %d %d %d %d %d %x %d %d %d\n", a[0], a[1], a[2], a[3], a[4], t.p.x, t.q.x,
         t.z, text, p.x, p.y, q.x, q.y, sum, u.i, counter, sp.y, empty[1]);
}
int main(void) {
  printf("%d %d %d %d %d %d %d\n", g.a, g.b[0], g.b[1], g.b[2], g.u, g.c, g.bf);
  printf("%d %d %d %d\n", arr[0].a, arr[1].a, arr[3].a, arr[4].n == &g);
  printf("%d %d %d %d %d\n", m[0][0], m[1][0], m[1][1], *into, past[1]);
  for (int i = 0; i < 3; i++) printf("%d %d;", mm[i][0], mm[i][1]);
  printf("%d %d %d %d\n", nested[0][0].y, nested[0][1].x, nested[1][0].x, nested[1][1].y);
  printf("%d %d %d %c %c %d %s\n", (int)sizeof str, str[3], str[5], exact[2], padded[0], padded[5], ps);
  printf("%d %d %d %d %d | %d %d %d %d %d\n", deep.p.x, deep.p.y, deep.q.x, deep.q.y, deep.z, elided.p.x,
         elided.p.y, elided.q.x, elided.q.y, elided.z);
  printf("%d %d %d %x %x %d\n", flex.n, flex.data[0], flex.data[1], un.i, un2.i, (int)sizeof flex);
  printf("%u %d %llx %d\n", bits.a, bits.b, (unsigned long long)bits.c, (int)sizeof bits);
  printf("%.17g %.17g %.17g %.9g %.9g\n", table[0], table[1], table[2], single[0], single[1]);
  printf("%ld %lu %d%d%d %s %s\n", diff, size, flags[0], flags[1], flags[2], names[B], names[C]);
  printf("%d %d %d\n", lit->y, litarr[2], names[3] == NULL);
  printf("%d %d %d %d %d %d\n", an.p, an.q, an.s, an2.p, an2.q, an2.s);
  printf("%d %d %d\n", (int)wide[0], (int)wide[1], (int)wide[2]);
  local(3);
  local(4);
  return 0;
}
