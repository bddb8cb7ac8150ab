/* C11 <threads.h>, on the POSIX models. */
#include "plait.h"

enum { thrd_success, thrd_busy, thrd_error, thrd_nomem, thrd_timedout };
enum { mtx_recursive = 1 };

struct __plait_condition;
int pthread_equal(unsigned long, unsigned long);
int pthread_mutex_init(struct __plait_mutex *, const int *);
int pthread_mutex_destroy(struct __plait_mutex *);
int pthread_cond_init(struct __plait_condition *, const int *);
int pthread_cond_destroy(struct __plait_condition *);
int pthread_cond_wait(struct __plait_condition *, struct __plait_mutex *);
int pthread_cond_timedwait(struct __plait_condition *, struct __plait_mutex *,
                           const struct timespec *);
int pthread_cond_signal(struct __plait_condition *);
int pthread_cond_broadcast(struct __plait_condition *);
int pthread_once(int *, void (*)(void));
int pthread_key_create(unsigned int *, void (*)(void *));
int pthread_key_delete(unsigned int);
int pthread_setspecific(unsigned int, const void *);
void *pthread_getspecific(unsigned int);

static void __plait_run_c11_thread(void *argument) {
  struct __plait_thread *block = argument;
  int (*start)(void *);
  void *value;
  __plait_atomic_begin();
  __plait_current = block;
  start = block->start_c11;
  value = block->argument;
  PLAIT_ACQUIRE();
  block->start_c11 = NULL;
  block->argument = NULL;
  __plait_atomic_end();
  pthread_exit((void *)(long)start(value));
}

int thrd_create(unsigned long *thread, int (*start)(void *), void *argument) {
  PLAIT_MAY_FAIL("thrd_create", thrd_error);
  struct __plait_thread *block = __plait_allocate(sizeof(struct __plait_thread), 1, "library");
  __plait_atomic_begin();
  block->start_c11 = start;
  block->argument = argument;
  PLAIT_INHERIT_MASK(block);
  PLAIT_RELEASE();
  PLAIT_CREATES((void *(*)(void *))start, argument);
  __plait_spawn(__plait_run_c11_thread, block);
  __plait_atomic_end();
  *thread = (unsigned long)block;
  return thrd_success;
}

void thrd_exit(int result) { pthread_exit((void *)(long)result); }

int thrd_join(unsigned long thread, int *result) {
  void *value = NULL;
  if (pthread_join(thread, &value) != 0) return thrd_error;
  if (result != NULL) *result = (int)(long)value;
  return thrd_success;
}

int thrd_detach(unsigned long thread) {
  return pthread_detach(thread) == 0 ? thrd_success : thrd_error;
}
unsigned long thrd_current(void) { return pthread_self(); }
int thrd_equal(unsigned long one, unsigned long other) { return pthread_equal(one, other); }
void thrd_yield(void) {}
int thrd_sleep(const struct timespec *time, struct timespec *left) { return 0; }

int mtx_init(struct __plait_mutex *mutex, int type) {
  int kind = type & mtx_recursive ? PLAIT_RECURSIVE : PLAIT_NORMAL;
  pthread_mutex_init(mutex, &kind);
  return thrd_success;
}
void mtx_destroy(struct __plait_mutex *mutex) { pthread_mutex_destroy(mutex); }
int mtx_lock(struct __plait_mutex *mutex) {
  return pthread_mutex_lock(mutex) == 0 ? thrd_success : thrd_error;
}
int mtx_trylock(struct __plait_mutex *mutex) {
  return pthread_mutex_trylock(mutex) == 0 ? thrd_success : thrd_busy;
}
int mtx_timedlock(struct __plait_mutex *mutex, const struct timespec *deadline) {
  return pthread_mutex_timedlock(mutex, deadline) == 0 ? thrd_success : thrd_timedout;
}
int mtx_unlock(struct __plait_mutex *mutex) {
  return pthread_mutex_unlock(mutex) == 0 ? thrd_success : thrd_error;
}

int cnd_init(struct __plait_condition *condition) {
  pthread_cond_init(condition, NULL);
  return thrd_success;
}
void cnd_destroy(struct __plait_condition *condition) { pthread_cond_destroy(condition); }
int cnd_wait(struct __plait_condition *condition, struct __plait_mutex *mutex) {
  return pthread_cond_wait(condition, mutex) == 0 ? thrd_success : thrd_error;
}
int cnd_timedwait(struct __plait_condition *condition, struct __plait_mutex *mutex,
                  const struct timespec *deadline) {
  int result = pthread_cond_timedwait(condition, mutex, deadline);
  if (result == ETIMEDOUT) return thrd_timedout;
  return result == 0 ? thrd_success : thrd_error;
}
int cnd_signal(struct __plait_condition *condition) {
  pthread_cond_signal(condition);
  return thrd_success;
}
int cnd_broadcast(struct __plait_condition *condition) {
  pthread_cond_broadcast(condition);
  return thrd_success;
}

void call_once(int *once, void (*routine)(void)) { pthread_once(once, routine); }

int tss_create(unsigned int *key, void (*destructor)(void *)) {
  return pthread_key_create(key, destructor) == 0 ? thrd_success : thrd_error;
}
void tss_delete(unsigned int key) { pthread_key_delete(key); }
int tss_set(unsigned int key, void *value) {
  return pthread_setspecific(key, value) == 0 ? thrd_success : thrd_error;
}
void *tss_get(unsigned int key) { return pthread_getspecific(key); }
