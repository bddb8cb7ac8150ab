#include <fcntl.h>
#include <unistd.h>
int main(void) {
  char byte;
  int one = open("one", O_RDONLY), other;
  if (one < 0) return 1;
  other = open("other", O_RDONLY);
  if (other >= 0) {
    read(other, &byte, 1);
    close(other);
  }
  read(one, &byte, 1);
  close(one);
  return 0;
}
