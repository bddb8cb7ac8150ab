/* Constructs that once were lowered wrongly. */
#include <stdio.h>
#include <string.h>
#include <wchar.h>
struct S { int x, y; };
struct B { unsigned a : 3; unsigned b : 7; };
union V { char c; long l; };
typedef struct S TS;
typedef int fn(int);
enum EE { E0, E1 };
static int started;
__attribute__((constructor)) static void init(void) { started = 5; }
static int knr(c, d, s) char c; float d; short s; { return c + (int)(d * 10) + s; }
static int takes(p) float p; { float *q = &p; return (int)(*q * 2); }
static int pick(int v) { return v; }
union { int a; char b; } over = {.a = 0x01020304, .b = 1};
struct { union { int a; char b; } u; int z; } deep = {.u.a = 0x01020304, .u.b = 1, .z = 3};
struct { union { struct S s; int w; }; int t; } nested = {.s.x = 1, .s.y = 2, .t = 3};
wchar_t wide[] = L"\x1234" "abc";
unsigned short utf16[] = u"\U0001F600z";
int main(int argc, char **argv) {
  printf("%d\n", started);
  struct B x; x.a = 3; x.b = 100; printf("%d %d\n", x.a, x.b);
  union V u, v; u.c = 5; v = u; printf("%d\n", v.c);
  int n = 4; int b[n][3]; b[3][2] = 7; printf("%zu %d\n", sizeof b, b[3][2]);
  printf("%d %d\n", knr(300, 2.5, 70000), takes(1.5));
  printf("%x %x %d %d %d %d\n", over.a, deep.u.a, deep.z, nested.s.x, nested.s.y, nested.t);
  for (int i = 0; i < 5; i++) printf("%x ", (unsigned)wide[i]);
  for (int i = 0; i < 4; i++) printf("%x ", utf16[i]);
  struct { long long b : 10; } bf = {-5}; bf.b /= 3u; printf("%d\n", (int)bf.b);
  for (int j = 0; j < 3; j++) {
    struct S s; s.x = j;
    printf("%d ", s.x);
    { struct S t = s; t.x++; if (j == 1) continue; printf("%d\n", t.x); }
  }
  const int ci = 0; const char *s = ""; int m[2][3]; int arr[3]; struct S *sv = 0; enum EE e = E0; const char *const cs[2] = {"", ""};
  printf("%d%d%d%d%d%d%d%d\n", _Generic(&ci, int *: 1, const int *: 2), _Generic(s, const char *: 1, char *: 2),
         _Generic(pick, int (*)(int): 3, default: 9), _Generic(m, int (*)[3]: 1, default: 3), _Generic(&arr, int (*)[3]: 1, default: 3),
         _Generic(sv, TS *: 1, default: 3), _Generic(e, int: 1, unsigned: 2, default: 3), _Generic(cs[0], const char *: 1, char *: 2, default: 3));
  printf("%d %d\n", _Generic(ci, int: 1, default: 2), _Generic(arr, int *: 4, default: 5));
  return 0;
}
