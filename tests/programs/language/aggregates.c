/* Struct values in every position, pointers between nested objects, flexible members, recursion. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct Vec { double x, y; };
struct Item { char tag; union { int i; double d; struct { short lo, hi; } s; } u; struct Item *next; };
struct Buf { size_t n; unsigned char data[]; };
struct Mat { int rows[3][4]; };
typedef struct Item *(*maker)(int);
static struct Vec add(struct Vec a, struct Vec b) { a.x += b.x; a.y += b.y; return a; }
static struct Vec scale(struct Vec v, double k) { return (struct Vec){v.x * k, v.y * k}; }
static struct Item *make(int i) {
  struct Item *it = malloc(sizeof *it);
  *it = (struct Item){.tag = 'a' + i, .u.i = i * i, .next = NULL};
  return it;
}
static struct Mat transpose(struct Mat m) { struct Mat t = {0}; for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++) t.rows[j][i] = m.rows[i][j]; return t; }
static int depth(struct Item *it) { return it ? 1 + depth(it->next) : 0; }
static maker pick(int k) { return k ? make : 0; }
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static int sum2(int (*m)[4], int n) { int s = 0; for (int i = 0; i < n; i++) for (int j = 0; j < 4; j++) s += m[i][j]; return s; }
int main(void) {
  struct Vec v = add(scale((struct Vec){1, 2}, 3), add((struct Vec){.y = 1}, (struct Vec){4})), w;
  w = v = scale(v, 0.5);
  printf("%g %g %g\n", v.x, w.y, (v.x > 1 ? v : w).y);
  struct Item *list = NULL, **tail = &list;
  for (int i = 0; i < 4; i++) { *tail = pick(1)(i); tail = &(*tail)->next; }
  printf("%d %c %d\n", depth(list), list->next->tag, list->next->next->u.i);
  struct Item copy = *list->next; copy.u.s.hi = 7; copy.next->u.d = 2.5;
  printf("%x %d %g\n", copy.u.i, list->next->u.i, list->next->next->u.d);
  while (list) { struct Item *n = list->next; free(list); list = n; }
  struct Buf *b = malloc(sizeof *b + 5); b->n = 5; for (size_t i = 0; i < b->n; i++) b->data[i] = i * 50;
  b = realloc(b, sizeof *b + 9); memset(b->data + 5, 9, 4); printf("%d %d %d\n", b->data[4], b->data[8], (int)b->n); free(b);
  struct Mat m = {{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}}; m = transpose(transpose(transpose(m)));
  printf("%d %d %d %d\n", m.rows[0][2], m.rows[2][0], sum2(m.rows, 3), (int)sizeof m.rows[0]);
  int nums[] = {5, 3, 9, 1, 7, 2}; qsort(nums, 6, sizeof(int), compare);
  int key = 7, *hit = bsearch(&key, nums, 6, sizeof(int), compare);
  printf("%d %d %d %ld\n", nums[0], nums[3], nums[5], (long)(hit - nums));
  int *z = calloc(4, sizeof *z); z[2] = 5; struct Vec *vp = &(struct Vec){z[1], z[2]}; printf("%g %g\n", vp->x, vp->y); free(z);
  char buf[32]; strcpy(buf, "one"); strcat(buf, "-two"); char *dash = strchr(buf, '-'); *dash = 0;
  printf("%s %s %d %d %d\n", buf, dash + 1, (int)strlen(buf), strcmp(buf, "onf") < 0, strncmp("abc", "abd", 2));
  memmove(buf + 1, buf, 4); printf("%s %d\n", buf, memcmp("abc", "abd", 3) < 0);
  static int calls[2]; calls[0]++; { static int calls = 3; calls++; printf("%d\n", calls); } printf("%d\n", calls[0]);
  struct { unsigned f : 1, g : 2; } one = {1, 3}, two; two = one; two.g--; printf("%d %d %d\n", two.f, two.g, one.g);
  int *pi = &m.rows[1][1]; int (*pa)[4] = &m.rows[1]; printf("%d %d %d\n", pi[-1], (*pa)[2], *(*(pa + 1) + 1));
  const char *names[2][2] = {{"a", "bc"}, {"def", 0}}; printf("%s %c %d\n", names[1][0], names[0][1][1], names[1][1] == 0);
  printf("%d %s\n", atoi("-42x"), ({ const char *t = "st"; t; }));
  struct Vec arr[3] = {[1] = v}, *last = &arr[2]; *last = arr[1]; last--; last->x++; printf("%g %g %g\n", arr[0].x, arr[1].x, arr[2].x);
  return 0;
}
