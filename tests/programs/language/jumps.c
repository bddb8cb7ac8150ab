// setjmp and longjmp: what they return, and what they do to locals.
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

static jmp_buf global;
static sigjmp_buf with_mask;

static void deep(int n, int value) {
  if (n == 0) longjmp(global, value);
  deep(n - 1, value);
  printf("never\n");
}

static void values(void) {
  static int tries[] = {0, 1, -5, 1234567};
  for (volatile int i = 0; i < 4; i++) {
    int found = setjmp(global);
    if (found == 0)
      deep(i, tries[i]);
    else
      printf("value %d\n", found);
  }
}

static void in_switch(void) {
  volatile int round = 0;
  switch (setjmp(global)) {
    case 0: printf("first\n"); longjmp(global, 2);
    case 2: printf("two\n"); round++; longjmp(global, 3);
    case 3: printf("three %d\n", round); if (++round < 4) longjmp(global, 9); break;
    default: printf("other %d\n", round); longjmp(global, 3);
  }
  printf("round %d\n", round);
}

// The same buffer, set and jumped to in nested calls.
static void inner(void) {
  jmp_buf saved;
  jmp_buf *before = malloc(sizeof(jmp_buf));
  if (!setjmp(saved)) {
    printf("inner set\n");
    longjmp(saved, 1);
  }
  printf("inner back\n");
  if (!setjmp(*before)) longjmp(*before, 1);
  free(before);
  printf("inner to outer\n");
  longjmp(global, 1);
}

static void nested(void) {
  if (setjmp(global) == 0) {
    inner();
  } else {
    printf("outer\n");
  }
}

// Through a pointer to a function, and through functions of the library.
static int failing(const void *left, const void *right) {
  const int *one = left, *other = right;
  if (*one == 3 || *other == 3) longjmp(global, 33);
  return *one - *other;
}

static void from_callback(void) {
  int numbers[] = {4, 2, 3, 1};
  if (!setjmp(global))
    qsort(numbers, 4, sizeof *numbers, failing);
  else
    printf("a comparison jumped\n");
}

static void without_jump(void) {
  int others[] = {4, 2, 1};
  if (!setjmp(global)) qsort(others, 3, sizeof *others, failing);
  void (*away)(jmp_buf, int) = longjmp;
  if (!setjmp(global)) {
    away(global, 1);
    printf("never\n");
  }
  printf("and through a pointer\n");
}

// Locals that keep their values: volatile ones, those not changed, and those set again.
static int kept(int parameter) {
  int before = 5, again = 1;
  volatile int changed = 0;
  static int counted;
  struct { int a[3]; } record = {{1, 2, 3}};
  if (setjmp(global) == 0) {
    changed = 7;
    counted = 8;
    deep(1, 1);
  }
  again = 2;
  return parameter + before + changed + counted + again + record.a[2];
}

static struct error { jmp_buf place; const char *what; int line; } error;
#define TRY if (setjmp(error.place) == 0)
#define CATCH else
#define THROW(text) (error.what = (text), error.line = 1, longjmp(error.place, 1))

static int parse(const char *text) {
  int sum = 0;
  for (; *text; text++) {
    if (*text < '0' || *text > '9') THROW("not a digit");
    sum = 10 * sum + (*text - '0');
  }
  return sum;
}

static void exceptions(void) {
  const char *const texts[] = {"12", "1x", "", "999"};
  volatile int i;
  for (i = 0; i < 4; i++) {
    TRY { printf("%d\n", parse(texts[i])); }
    CATCH { printf("%s: %s\n", texts[i], error.what); }
  }
}

_Noreturn static void die(int k) { longjmp(global, k); }
static double half(int k) { if (k == 3) die(k); return k / 2.0; }
struct pair { int a, b; };
static struct pair both(int k) { if (k) die(k); return (struct pair){1, 2}; }

static void results(void) {
  volatile double sum = 0;
  int r = setjmp(global);
  if (r == 0) { sum = half(4); sum += half(3); }
  if (r == 3) { struct pair p = both(0); printf("%d\n", p.a + p.b); p = both(4); }
  printf("%d %.2f\n", r, (double)sum);
}

static void blocks(void) {
  volatile int count = 0;
again:
  {
    int here[2];
    here[0] = 3;
    if (sigsetjmp(with_mask, 0) == 0) {
      int inside[3] = {1, 2, 3};
      count = count + inside[2];
      siglongjmp(with_mask, 1);
    }
    here[1] = 4;
    printf("%d %d\n", here[0] + here[1], count);
  }
  if (count < 6) goto again;
}

static pthread_key_t key;
static void *worker(void *argument) {
  jmp_buf own;
  volatile int rounds = 0;
  pthread_setspecific(key, &own);
  int r = setjmp(own);
  rounds++;
  if (r < 3) longjmp(*(jmp_buf *)pthread_getspecific(key), r + 1);
  return (void *)(long)rounds;
}

int main(void) {
  pthread_t one, two;
  void *first, *second;
  values();
  in_switch();
  nested();
  from_callback();
  without_jump();
  printf("kept %d\n", kept(100));
  exceptions();
  results();
  blocks();
  pthread_key_create(&key, NULL);
  pthread_create(&one, NULL, worker, NULL);
  pthread_create(&two, NULL, worker, NULL);
  pthread_join(one, &first);
  pthread_join(two, &second);
  printf("%ld %ld\n", (long)first, (long)second);
  return 0;
}
