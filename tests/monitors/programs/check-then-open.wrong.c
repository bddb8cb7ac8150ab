#include <stdio.h>
#include <unistd.h>
static const char *name = "settings";
int main(void) {
  FILE *file;
  if (access(name, R_OK) != 0) return 1;
  file = fopen(name, "r");
  if (file != 0) fclose(file);
  return 0;
}
