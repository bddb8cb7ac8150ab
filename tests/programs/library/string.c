// The functions of <string.h> and <strings.h>.
// expect assertions: true
// expect valid-memsafety: true
#define _GNU_SOURCE
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void copies(void) {
  char a[8] = "abcdefg", b[8];
  assert(memcpy(b, a, 8) == b && memcmp(a, b, 8) == 0);
  memmove(a + 2, a, 4);
  assert(strcmp(a, "ababcdg") == 0);
  memmove(a, a + 2, 4);
  assert(strcmp(a, "abcdcdg") == 0);
  assert(memset(b, 'x', 3) == b && strcmp(b, "xxxdefg") == 0);
  assert(memchr(b, 'd', 8) == b + 3 && memchr(b, 'z', 8) == NULL);
  assert(memcmp("\200", "a", 1) > 0);
  bzero(b, 2);
  assert(b[0] == 0 && b[1] == 0 && b[2] == 'x');
}

static void comparisons(void) {
  assert(strcmp("a", "a") == 0 && strcmp("a", "b") < 0 && strcmp("ab", "a") > 0);
  assert(strcmp("\200", "a") > 0);
  assert(strncmp("abc", "abd", 2) == 0 && strncmp("abc", "abd", 3) < 0);
  assert(strncmp("a", "a", 9) == 0);
  assert(strcasecmp("HeLLo", "hEllO") == 0 && strncasecmp("ABx", "abY", 2) == 0);
}

static void searches(void) {
  const char *text = "one two";
  assert(strlen(text) == 7 && strnlen(text, 3) == 3);
  assert(strchr(text, 't') == text + 4 && strchr(text, 'z') == NULL);
  assert(strchr(text, 0) == text + 7 && strrchr(text, 'o') == text + 6);
  assert(strstr(text, "two") == text + 4 && strstr(text, "") == text);
  assert(strstr(text, "no") == NULL);
  assert(strspn(text, "eno") == 3 && strcspn(text, " ") == 3);
  assert(strpbrk(text, "tw") == text + 4 && strpbrk(text, "xyz") == NULL);
}

static void builds(void) {
  char a[8];
  assert(strcpy(a, "ab") == a && strcat(a, "cd") == a && strcmp(a, "abcd") == 0);
  strncat(a, "efgh", 2);
  assert(strcmp(a, "abcdef") == 0);
  strncpy(a, "z", 3);
  assert(a[0] == 'z' && a[1] == 0 && a[2] == 0 && a[3] == 'd');
  assert(stpcpy(a, "xyz") == a + 3);
  char *copy = strdup("copy"), *part = strndup("part", 2);
  assert(strcmp(copy, "copy") == 0 && strcmp(part, "pa") == 0);
  free(copy);
  free(part);
}

static void tokens(void) {
  char text[] = ",a,,bc", *rest;
  char *first = strtok_r(text, ",", &rest);
  assert(strcmp(first, "a") == 0);
  assert(strcmp(strtok_r(NULL, ",", &rest), "bc") == 0);
  assert(strtok_r(NULL, ",", &rest) == NULL);
  char other[] = "x-y", *at = other;
  assert(strcmp(strsep(&at, "-"), "x") == 0 && strcmp(strsep(&at, "-"), "y") == 0);
  assert(strsep(&at, "-") == NULL);
}

int main(void) {
  copies();
  comparisons();
  searches();
  builds();
  tokens();
  return 0;
}
