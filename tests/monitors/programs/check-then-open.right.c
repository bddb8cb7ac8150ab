#include <stdio.h>
#include <unistd.h>
static const char *name = "settings";
int main(void) {
  FILE *file = fopen(name, "r");
  if (file == 0 && access(name, F_OK) == 0) return 1;
  if (file != 0) fclose(file);
  return 0;
}
