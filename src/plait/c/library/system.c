/* The system as a source of inputs, where more is known of a call than what it accesses. */
#include "plait.h"

/* File descriptors that threads wait for: any of them may be ready for what it is asked for, or have
   failed. Without a limit of time it waits until one is. */
#define PLAIT_POLL_FAILURES 0x38 /* POLLERR, POLLHUP, POLLNVAL */
struct __plait_pollfd {
  int fd;
  short events;
  short revents;
};
int poll(struct __plait_pollfd *files, unsigned long count, int timeout) {
  unsigned long at;
  int ready = 0;
  if (__plait_choose("whether poll fails", 2)) {
    __plait_note_failure(1);
    return -1;
  }
  for (at = 0; at < count; at = at + 1) {
    short found = 0;
    if (files[at].fd >= 0)
      found = (short)(__VERIFIER_nondet_int() & (files[at].events | PLAIT_POLL_FAILURES));
    files[at].revents = found;
    if (found != 0) ready = ready + 1;
  }
  __plait_assume(timeout >= 0 || ready > 0);
  return ready;
}

/* Which of the first `count` files of a set are ready, and how many. Linux clears what is behind them
   in the last word. */
#define PLAIT_WORD_BITS (8 * (int)sizeof(long))
static int __plait_some_of(unsigned long *set, int count) {
  int at;
  int ready = 0;
  if (set == NULL) return 0;
  for (at = 0; at < 1024 / PLAIT_WORD_BITS && at * PLAIT_WORD_BITS < count; at = at + 1) {
    int rest = count - at * PLAIT_WORD_BITS;
    unsigned long found = set[at] & (unsigned long)__VERIFIER_nondet_long();
    if (rest < PLAIT_WORD_BITS) found = found & ((1UL << rest) - 1);
    set[at] = found;
    ready = ready + __builtin_popcountl(found);
  }
  return ready;
}
/* Without a limit of time it waits until a file is ready. */
static int __plait_select(int count, unsigned long *reads, unsigned long *writes,
                          unsigned long *errors, int waits) {
  int ready;
  if (count < 0) {
    *__errno_location() = EINVAL;
    return -1;
  }
  if (count > 1024) __plait_unsupported("select with more than 1024 files");
  if (__plait_choose("whether select fails", 2)) {
    __plait_note_failure(1);
    return -1;
  }
  ready = __plait_some_of(reads, count);
  ready = ready + __plait_some_of(writes, count);
  ready = ready + __plait_some_of(errors, count);
  __plait_assume(ready > 0 || !waits);
  return ready;
}
/* Linux leaves in `timeout` what was left of it; microseconds may be more than a second. */
int select(int count, unsigned long *reads, unsigned long *writes, unsigned long *errors,
           struct timespec *timeout) {
  if (timeout != NULL) {
    long limit = timeout->tv_sec;
    long more = timeout->tv_nsec;
    long seconds;
    long rest;
    if (limit < 0 || more < 0) {
      *__errno_location() = EINVAL;
      return -1;
    }
    seconds = __VERIFIER_nondet_long();
    rest = __VERIFIER_nondet_long();
    __plait_assume(seconds >= 0 && (seconds <= limit || seconds - limit <= more / 1000000) &&
                   rest >= 0 && rest < 1000000);
    timeout->tv_sec = seconds;
    timeout->tv_nsec = rest;
  }
  return __plait_select(count, reads, writes, errors, timeout == NULL);
}
int pselect(int count, unsigned long *reads, unsigned long *writes, unsigned long *errors,
            const struct timespec *timeout, const void *mask) {
  if (timeout != NULL) __plait_read_bytes(timeout, sizeof(struct timespec));
  return __plait_select(count, reads, writes, errors, timeout == NULL);
}

/* Six strings of 65 bytes. */
int uname(char *names) {
  int field;
  if (__plait_choose("whether uname fails", 2)) {
    __plait_note_failure(1);
    return -1;
  }
  for (field = 0; field < 6; field = field + 1) __plait_unknown_text(names + 65 * field, 65);
  return 0;
}

/* Names of hosts have at most 64 characters; of one that does not fit the end may be missing. */
static int __plait_name_of_host(char *name, size_t size) {
  if (__plait_choose("whether the name of the host is not told", 2)) {
    if (size < 65)
      __plait_unknown_bytes(name, size);
    else
      __plait_unknown_text(name, 65);
    __plait_note_failure(1);
    return -1;
  }
  __plait_unknown_text(name, size < 65 ? size : 65);
  return 0;
}
int gethostname(char *name, size_t size) { return __plait_name_of_host(name, size); }
int getdomainname(char *name, size_t size) { return __plait_name_of_host(name, size); }

/* The last six characters become others. */
static int __plait_name_template(char *name) {
  size_t length = strlen(name);
  size_t at;
  if (length < 6) return 0;
  for (at = length - 6; at < length; at = at + 1) {
    unsigned char c = __VERIFIER_nondet_uchar();
    __plait_assume(c >= '0' && c <= 'z' && (c <= '9' || (c >= 'A' && c <= 'Z') || c >= 'a'));
    name[at] = (char)c;
  }
  return 1;
}
int mkstemp(char *name) {
  int file = __VERIFIER_nondet_int();
  __plait_assume(file >= -1);
  if (!__plait_name_template(name)) __plait_assume(file == -1);
  __plait_note_failure(file < 0);
  return file;
}
char *mkdtemp(char *name) {
  if (!__plait_name_template(name) || __plait_choose("whether mkdtemp fails", 2)) {
    __plait_note_failure(1);
    return NULL;
  }
  return name;
}

/* A line of any length, in memory that the caller frees, also at the end of the input. */
ssize_t getdelim(char **line, size_t *room, int delimiter, void *stream) {
  size_t length;
  size_t at;
  char *text;
  if (__plait_choose("whether the input ends", 2)) {
    if (*line == NULL) {
      *room = 120; /* what glibc begins with */
      *line = __plait_allocate(*room, 0, "heap");
    }
    __plait_note_possible_failure();
    return -1;
  }
  length = (size_t)__VERIFIER_nondet_long();
  __plait_assume(length >= 1 && length < (size_t)-1 / 4);
  if (*line == NULL || *room < length + 1) {
    if (*line != NULL) __plait_free(*line, "heap");
    *line = __plait_allocate(length + 1, 0, "heap");
    *room = length + 1;
  }
  text = *line;
  for (at = 0; at < length; at = at + 1) {
    unsigned char c = __VERIFIER_nondet_uchar();
    __plait_assume(c != (unsigned char)delimiter || at == length - 1);
    text[at] = (char)c;
  }
  text[length] = 0;
  return (ssize_t)length;
}
ssize_t getline(char **line, size_t *room, void *stream) {
  return getdelim(line, room, '\n', stream);
}

/* The order of bytes in the network; inet_addr and inet_pton do not say which address it is. */
unsigned short htons(unsigned short value) {
  return (unsigned short)((value >> 8) | (value << 8));
}
unsigned short ntohs(unsigned short value) { return htons(value); }
unsigned int htonl(unsigned int value) {
  return (value >> 24) | (value >> 8 & 0xff00) | (value << 8 & 0xff0000) | (value << 24);
}
unsigned int ntohl(unsigned int value) { return htonl(value); }
unsigned int inet_addr(const char *text) {
  __plait_read_text(text);
  return __VERIFIER_nondet_uint();
}
int inet_pton(int family, const char *text, void *address) {
  int result = __VERIFIER_nondet_int();
  __plait_assume(result >= -1 && result <= 1);
  __plait_read_text(text);
  if (result == 1) __plait_unknown_bytes(address, family == 2 ? 4 : 16);
  __plait_note_failure(result < 0);
  return result;
}

/* Entries of data bases. They share their results: threads that call these functions race. Strings
   of a length that the model has; longer ones, and hosts with several addresses, have no verdict. */
#define PLAIT_NAME_SIZE 16
static void __plait_any_name(char *name) {
  if (__plait_choose("whether a name is long", 2))
    __plait_unsupported("a name of 16 or more characters from a data base of the system");
  __plait_unknown_text(name, PLAIT_NAME_SIZE);
}

struct __plait_host {
  char *name;
  char **aliases;
  int type;
  int length;
  char **addresses;
};
static struct __plait_host __plait_host;
static char __plait_host_name[PLAIT_NAME_SIZE];
static unsigned char __plait_host_address[4];
static char *__plait_host_aliases[1];
static char *__plait_host_addresses[2];
static struct __plait_host *__plait_any_host(void) {
  if (__plait_choose("whether there is no such host", 2)) return NULL;
  if (__plait_choose("whether a host has other names or addresses", 2))
    __plait_unsupported("a host with several names or addresses, or none of 4 bytes");
  __plait_any_name(__plait_host_name);
  __plait_unknown_bytes(__plait_host_address, 4);
  __plait_host_aliases[0] = NULL;
  __plait_host_addresses[0] = (char *)__plait_host_address;
  __plait_host_addresses[1] = NULL;
  __plait_host.name = __plait_host_name;
  __plait_host.aliases = __plait_host_aliases;
  __plait_host.type = 2;
  __plait_host.length = 4;
  __plait_host.addresses = __plait_host_addresses;
  return &__plait_host;
}
struct __plait_host *gethostbyname(const char *name) {
  __plait_read_text(name);
  return __plait_any_host();
}
struct __plait_host *gethostbyaddr(const void *address, unsigned int size, int type) {
  __plait_read_bytes(address, size);
  return __plait_any_host();
}

/* One address for IPv4, in memory of the library until freeaddrinfo: lists of several, other kinds and
   names of hosts have no verdict. */
struct __plait_found_address {
  int flags;
  int family;
  int type;
  int protocol;
  unsigned int size;
  void *address;
  char *name;
  struct __plait_found_address *next;
  unsigned char bytes[16]; /* struct sockaddr_in */
};
int getaddrinfo(const char *host, const char *service, const int *hints,
                struct __plait_found_address **result) {
  struct __plait_found_address *found;
  if (host != NULL) __plait_read_text(host);
  if (service != NULL) __plait_read_text(service);
  if (hints != NULL) __plait_read_bytes(hints, 4 * sizeof(int));
  if (__plait_choose("whether getaddrinfo fails", 2)) {
    int error = __VERIFIER_nondet_int();
    __plait_assume(error < 0 && error >= -105); /* EAI_... */
    __plait_note_possible_failure();
    return error;
  }
  if (__plait_choose("whether there are other addresses", 2))
    __plait_unsupported("several addresses, or others than of IPv4, from getaddrinfo");
  found = __plait_allocate(sizeof(struct __plait_found_address), 1, "addresses");
  found->flags = hints == NULL ? 0x28 : hints[0]; /* AI_V4MAPPED | AI_ADDRCONFIG */
  found->family = 2;
  found->type = __VERIFIER_nondet_int();
  found->protocol = __VERIFIER_nondet_int();
  found->size = 16;
  if (found->flags & 2) /* AI_CANONNAME */
    __plait_unsupported("getaddrinfo that also tells the name of the host");
  found->address = found->bytes;
  __plait_unknown_bytes(found->bytes, 16);
  found->bytes[0] = 2;
  found->bytes[1] = 0;
  *result = found;
  return 0;
}
void freeaddrinfo(struct __plait_found_address *found) {
  PLAIT_TOUCH(found);
  __plait_free(found, "addresses");
}

struct __plait_user {
  char *name;
  char *password;
  unsigned int user;
  unsigned int group;
  char *information;
  char *directory;
  char *shell;
};
static struct __plait_user __plait_user;
static char __plait_user_texts[5][PLAIT_NAME_SIZE];
static struct __plait_user *__plait_any_user(void) {
  int at;
  if (__plait_choose("whether there is no such user", 2)) {
    __plait_note_possible_failure();
    return NULL;
  }
  for (at = 0; at < 5; at = at + 1) __plait_any_name(__plait_user_texts[at]);
  __plait_user.name = __plait_user_texts[0];
  __plait_user.password = __plait_user_texts[1];
  __plait_user.user = __VERIFIER_nondet_uint();
  __plait_user.group = __VERIFIER_nondet_uint();
  __plait_user.information = __plait_user_texts[2];
  __plait_user.directory = __plait_user_texts[3];
  __plait_user.shell = __plait_user_texts[4];
  return &__plait_user;
}
struct __plait_user *getpwuid(unsigned int user) { return __plait_any_user(); }
struct __plait_user *getpwnam(const char *name) {
  __plait_read_text(name);
  return __plait_any_user();
}

/* Messages, in memory of their own: that a later call may overwrite them is not modelled. */
char *strerror(int);
char *strsignal(int number) { return strerror(number); }
const char *hstrerror(int number) { return strerror(number); }
const char *gai_strerror(int number) { return strerror(number); }
static _Thread_local int __plait_host_error;
int *__h_errno_location(void) {
  __plait_host_error = __VERIFIER_nondet_int();
  return &__plait_host_error;
}
static char __plait_address_text[PLAIT_NAME_SIZE];
struct __plait_address {
  unsigned int address;
};
char *inet_ntoa(struct __plait_address address) {
  __plait_unknown_text(__plait_address_text, PLAIT_NAME_SIZE);
  return __plait_address_text;
}
