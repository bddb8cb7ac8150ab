#include <sys/socket.h>
#include <unistd.h>
int main(void) {
  struct sockaddr address = {0};
  int made = socket(AF_INET, SOCK_STREAM, 0), client;
  if (made < 0) return 1;
  if (bind(made, &address, sizeof address) == 0) {
    listen(made, 4); /* may fail */
    client = accept(made, 0, 0);
    if (client >= 0) close(client);
  }
  close(made);
  return 0;
}
