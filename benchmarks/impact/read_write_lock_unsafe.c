/* A read-write lock whose readers leave with a load and a store that are no atomic section.
 * Checked, and violated: between the two reads of a reader no writer changes the data. */
#include <assert.h>
#include <pthread.h>

extern void __VERIFIER_assume(int);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

int writing; /* is a writer inside? */
int readers; /* how many readers are inside */
int data;

static void begin_write(void) {
  __VERIFIER_atomic_begin();
  __VERIFIER_assume(!writing && readers == 0);
  writing = 1;
  __VERIFIER_atomic_end();
}

static void end_write(void) { writing = 0; }

static void begin_read(void) {
  __VERIFIER_atomic_begin();
  __VERIFIER_assume(!writing);
  readers = readers + 1;
  __VERIFIER_atomic_end();
}

static void end_read(void) {
  readers = readers - 1; /* the other reader's entry or exit in between is lost */
}

void *writer(void *unused) {
  begin_write();
  data = data + 3;
  end_write();
  return 0;
}

void *reader(void *unused) {
  begin_read();
  int seen = data;
  assert(seen == data);
  end_read();
  return 0;
}

int main(void) {
  pthread_t writer_one, writer_two, reader_one, reader_two;
  pthread_create(&writer_one, 0, writer, 0);
  pthread_create(&reader_one, 0, reader, 0);
  pthread_create(&writer_two, 0, writer, 0);
  pthread_create(&reader_two, 0, reader, 0);
  pthread_join(writer_one, 0);
  pthread_join(reader_one, 0);
  pthread_join(writer_two, 0);
  pthread_join(reader_two, 0);
  return 0;
}
