/* Thread-specific data. The numbers of deleted keys are not used again, so a key that is deleted
   needs no change in other threads. */
#include "plait.h"

#define PLAIT_KEYS 32
#define PTHREAD_DESTRUCTOR_ITERATIONS 4

static void (*__plait_destructors[PLAIT_KEYS])(void *);
static int __plait_deleted[PLAIT_KEYS];
static int __plait_keys;
static _Thread_local void *__plait_values[PLAIT_KEYS];

/* The value of a new key is null in every thread. */
int pthread_key_create(unsigned int *key, void (*destructor)(void *)) {
  int number;
  __plait_atomic_begin();
  number = __plait_keys;
  if (number == PLAIT_KEYS) __plait_unsupported("more than 32 keys of thread-specific data");
  __plait_keys = number + 1;
  __plait_destructors[number] = destructor;
  __plait_atomic_end();
  *key = (unsigned int)number;
  return 0;
}

/* Runs no destructor. */
int pthread_key_delete(unsigned int key) {
  int unknown;
  __plait_atomic_begin();
  unknown = key >= (unsigned int)__plait_keys || __plait_deleted[key];
  if (!unknown) {
    __plait_deleted[key] = 1;
    __plait_destructors[key] = NULL;
  }
  __plait_atomic_end();
  __plait_check("lock-misuse", !unknown, "delete of a key that does not exist");
  return unknown ? EINVAL : 0;
}

/* At the end of a thread, while values with destructors are left, but four times at most: set
   each to null and call its destructor with the old value, in the order of the keys. */
static void __plait_destroy_values(void) {
  int round;
  int key;
  int found = 1;
  for (round = 0; found && round < PTHREAD_DESTRUCTOR_ITERATIONS; round = round + 1) {
    found = 0;
    for (key = 0; key < PLAIT_KEYS; key = key + 1) {
      void *value = __plait_values[key];
      void (*destructor)(void *);
      if (value == NULL) continue;
      __plait_atomic_begin();
      destructor = __plait_destructors[key];
      __plait_atomic_end();
      if (destructor == NULL) continue;
      found = 1;
      __plait_values[key] = NULL;
      destructor(value);
    }
  }
}

int pthread_setspecific(unsigned int key, const void *value) {
  int unknown;
  __plait_atomic_begin();
  unknown = key >= (unsigned int)__plait_keys || __plait_deleted[key];
  __plait_atomic_end();
  __plait_check("lock-misuse", !unknown, "use of a key that does not exist");
  if (unknown) return EINVAL;
  __plait_values[key] = (void *)value;
  __plait_run_key_destructors = __plait_destroy_values;
  return 0;
}

void *pthread_getspecific(unsigned int key) {
  return key < PLAIT_KEYS ? __plait_values[key] : NULL;
}
