// Two threads of aget (github.com/EnderUNIX/Aget) that load a file together, without the rest of the
// program: see docs/real-programs.md. What the server says is up to the model of recv.
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "Data.h"
#include "Download.h"

sigset_t signal_set;

static struct thread_data parts[2];

int main(void) {
  for (int i = 0; i < 2; i++) {
    parts[i].foffset = 1 << 20;
    parts[i].clength = 2 << 20;
    strcpy(parts[i].getstr, "GET");
    pthread_create(&parts[i].tid, 0, http_get, &parts[i]);
  }
  for (int i = 0; i < 2; i++) pthread_join(parts[i].tid, 0);
  return 0;
}
