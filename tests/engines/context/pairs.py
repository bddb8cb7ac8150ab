"""Programs for any number of threads, each with one condition without which it is violated."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from plait.c import FrontEndOptions, load
from plait.model.program import Program
from plait.model.properties import Specification

_START = """
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_assume(int);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
"""
# Where threads are started in a loop.
_ANY_NUMBER = "#define MORE __VERIFIER_nondet_int()\n"
_SO_MANY = "static int more_threads = {};\n#define MORE (more_threads-- > 0)\n"

_MAIN = """
int main(void) {
  pthread_t thread;
  while (MORE) pthread_create(&thread, 0, run, 0);
  pthread_exit(0);
}
"""


@dataclass(frozen=True)
class Pair:
    """A program that is safe, and what to replace by what so that it is not. `threads` are as many
    as the violation needs of those that are started in a loop."""

    text: str
    old: str
    new: str
    threads: int = 2

    @property
    def violated(self) -> str:
        assert self.text.count(self.old) == 1
        return self.text.replace(self.old, self.new)


def loaded(
    text: str, folder: Path, specification: Specification, threads: int | None = None
) -> Program:
    """With any number of threads, or with so many in each loop that starts some."""
    path = folder / "program.c"
    more = _ANY_NUMBER if threads is None else _SO_MANY.format(threads)
    path.write_text(_START + more + text)
    return load([str(path)], FrontEndOptions(), specification)


PAIRS = {
    "a state that is tested and set": Pair(
        """
int x, state;
void *run(void *unused) {
  while (1) {
    __VERIFIER_atomic_begin();
    int old = state;
    if (state == 0) state = 1;
    __VERIFIER_atomic_end();
    if (old == 0) {
      x = x + 1;
      assert(x == 1);
      x = x - 1;
      state = 0;
    }
  }
}
"""
        + _MAIN,
        "if (state == 0) state = 1;",
        "state = 1;\n    old = 0;",
    ),
    "a counter under a mutex": Pair(
        """
int x;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
void *run(void *unused) {
  pthread_mutex_lock(&mutex);
  x++;
  assert(x == 1);
  x--;
  pthread_mutex_unlock(&mutex);
  return 0;
}
"""
        + _MAIN,
        "  x--;\n  pthread_mutex_unlock(&mutex);",
        "  pthread_mutex_unlock(&mutex);\n  x--;",
    ),
    "a thread that starts threads like itself": Pair(
        """
int x;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
void *run(void *unused) {
  pthread_t thread;
  pthread_mutex_lock(&mutex);
  x = 1;
  if (MORE) pthread_create(&thread, 0, run, 0);
  assert(x == 1);
  x = 0;
  pthread_mutex_unlock(&mutex);
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, run, 0);
  pthread_exit(0);
}
""",
        "  x = 0;\n  pthread_mutex_unlock(&mutex);",
        "  pthread_mutex_unlock(&mutex);\n  x = 0;",
        1,
    ),
    "a flag that is taken and given back": Pair(
        """
int x, flag;
void *run(void *unused) {
  __VERIFIER_atomic_begin();
  __VERIFIER_assume(flag == 0);
  flag = 1;
  __VERIFIER_atomic_end();
  x = 1;
  x = 0;
  assert(x == 0);
  flag = 0;
  return 0;
}
"""
        + _MAIN,
        "__VERIFIER_assume(flag == 0);",
        "",
    ),
    "a mutex that is taken only if something is to be done": Pair(
        """
int x;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
void *run(void *unused) {
  int does = 0;
  if (__VERIFIER_nondet_int()) does = 1;
  if (does) pthread_mutex_lock(&mutex);
  if (does) {
    x = 1;
    x = 0;
    assert(x == 0);
  }
  if (does) pthread_mutex_unlock(&mutex);
  return 0;
}
"""
        + _MAIN,
        "if (does) pthread_mutex_lock(&mutex);",
        "if (does && __VERIFIER_nondet_int()) pthread_mutex_lock(&mutex);",
    ),
    "an argument": Pair(
        """
int x;
void *run(void *argument) {
  if (argument == 0) return 0;
  x = 1;
  return 0;
}
int main(void) {
  pthread_t thread;
  while (MORE) pthread_create(&thread, 0, run, (void *)0L);
  assert(x == 0);
  pthread_exit(0);
}
""",
        "(void *)0L",
        "(void *)1L",
        1,
    ),
    "what each thread has of its own": Pair(
        """
_Thread_local int own = 2;
void *run(void *unused) {
  assert(own == 2);
  own = 3;
  return 0;
}
int main(void) {
  pthread_t thread;
  own = 5;
  while (MORE) pthread_create(&thread, 0, run, 0);
  assert(own == 5);
  pthread_exit(0);
}
""",
        "_Thread_local int",
        "int",
        1,
    ),
    "a pointer that stays": Pair(
        """
int x, y;
int *p = &x;
void *run(void *unused) {
  *p = 1;
  assert(y == 0);
  return 0;
}
int main(void) {
  pthread_t thread;
  p = &x;
  while (MORE) pthread_create(&thread, 0, run, 0);
  pthread_exit(0);
}
""",
        "run, 0);\n",
        "run, 0), p = &y;\n",
        1,
    ),
    "what happens before the first thread": Pair(
        """
int x;
void *run(void *unused) {
  assert(x == 1);
  return 0;
}
int main(void) {
  pthread_t thread;
  x = 2;
  x = 1;
  while (MORE) pthread_create(&thread, 0, run, 0);
  pthread_exit(0);
}
""",
        "run, 0);\n",
        "run, 0), x = 2;\n",
        1,
    ),
    "a section": Pair(
        """
int x;
void *run(void *unused) {
  __VERIFIER_atomic_begin();
  x = 1;
  x = 0;
  __VERIFIER_atomic_end();
  assert(x == 0);
  return 0;
}
"""
        + _MAIN,
        "  x = 0;\n  __VERIFIER_atomic_end();",
        "  __VERIFIER_atomic_end();\n  x = 0;",
    ),
    "a thread that is stuck has done what it did": Pair(
        """
int x, y;
void *run(void *unused) {
  x = y;
  __VERIFIER_assume(0);
  return 0;
}
int main(void) {
  pthread_t thread;
  while (MORE) pthread_create(&thread, 0, run, 0);
  assert(x == 0);
  pthread_exit(0);
}
""",
        "x = y;",
        "x = 1;",
        1,
    ),
    "only one thread": Pair(
        """
int x;
void *run(void *unused) {
  x = 1;
  x = 0;
  assert(x == 0);
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, run, 0);
  pthread_exit(0);
}
""",
        "run, 0);\n",
        "run, 0), pthread_create(&thread, 0, run, 0);\n",
        1,
    ),
    "what a joined thread has left behind": Pair(
        """
int x;
void *run(void *unused) {
  x = 5;
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, run, 0);
  pthread_join(thread, 0);
  assert(x == 5);
  return 0;
}
""",
        "  pthread_join(thread, 0);\n",
        "",
        0,
    ),
    "a thread that another one joins": Pair(
        """
int x;
pthread_t first;
void *sets(void *unused) {
  x = 5;
  return 0;
}
void *waits(void *unused) {
  pthread_join(first, 0);
  assert(x == 5);
  return 0;
}
int main(void) {
  pthread_t second;
  pthread_create(&first, 0, sets, 0);
  pthread_create(&second, 0, waits, 0);
  pthread_join(second, 0);
  return 0;
}
""",
        "  pthread_join(first, 0);\n",
        "",
        0,
    ),
    "the value that a thread ends with": Pair(
        """
void *run(void *unused) {
  return (void *)7L;
}
int main(void) {
  pthread_t thread;
  void *result;
  pthread_create(&thread, 0, run, 0);
  pthread_join(thread, &result);
  assert(result == (void *)7L);
  return 0;
}
""",
        "return (void *)7L",
        "return (void *)8L",
        0,
    ),
    "threads that are joined in a loop": Pair(
        """
int done[2];
void *run(void *argument) {
  done[(long)argument] = 1;
  return 0;
}
int main(void) {
  pthread_t threads[2];
  for (long i = 0; i < 2; i++) pthread_create(&threads[i], 0, run, (void *)i);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
  assert(done[0] + done[1] == 2);
  return 0;
}
""",
        "for (int i = 0; i < 2; i++)",
        "for (int i = 1; i < 2; i++)",
        0,
    ),
    "a thread that starts and joins another": Pair(
        """
int x;
void *inner(void *unused) {
  x = 1;
  return 0;
}
void *outer(void *unused) {
  pthread_t thread;
  pthread_create(&thread, 0, inner, 0);
  pthread_join(thread, 0);
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, outer, 0);
  pthread_join(thread, 0);
  assert(x == 1);
  return 0;
}
""",
        "inner, 0);\n  pthread_join(thread, 0);",
        "inner, 0);",
        0,
    ),
    "two identities": Pair(
        """
void *run(void *unused) { return 0; }
int main(void) {
  pthread_t first, second;
  pthread_create(&first, 0, run, 0);
  pthread_create(&second, 0, run, 0);
  assert(!pthread_equal(first, second));
  return 0;
}
""",
        "  assert(",
        "  second = first;\n  assert(",
        0,
    ),
    "a thread that is not there yet": Pair(
        """
int x;
void *run(void *unused) {
  x = 1;
  return 0;
}
void *idle(void *unused) { return 0; }
int main(void) {
  pthread_t first, second;
  pthread_create(&first, 0, idle, 0);
  assert(x == 0);
  pthread_create(&second, 0, run, 0);
  return 0;
}
""",
        "  assert(x == 0);\n  pthread_create(&second, 0, run, 0);",
        "  pthread_create(&second, 0, run, 0);\n  assert(x == 0);",
        0,
    ),
    "what a new thread finds after a join": Pair(
        """
int argument;
void *run(void *passed) {
  assert(*(int *)passed == 1);
  return 0;
}
int main(void) {
  pthread_t first, second;
  argument = 1;
  pthread_create(&first, 0, run, &argument);
  pthread_join(first, 0);
  argument = 2;
  argument = 1;
  pthread_create(&second, 0, run, &argument);
  return 0;
}
""",
        "  pthread_join(first, 0);\n",
        "",
        0,
    ),
    "no more than were started": Pair(
        """
int x, most;
void *adds(void *unused) {
  int t = x;
  x = t + 1;
  return 0;
}
void *looks(void *unused) {
  assert(x <= most);
  return 0;
}
int main(void) {
  pthread_t thread;
  most = 2;
  pthread_create(&thread, 0, looks, 0);
  for (int i = 0; i < 2; i++) pthread_create(&thread, 0, adds, 0);
  pthread_exit(0);
}
""",
        "x = t + 1",
        "x = t + 2",
        0,
    ),
    "more have entered than have left": Pair(
        """
int entered, left;
void *run(void *unused) {
  __VERIFIER_atomic_begin();
  if (entered == 1000) __VERIFIER_assume(0);
  entered++;
  __VERIFIER_atomic_end();
  __VERIFIER_atomic_begin();
  assert(left < entered);
  __VERIFIER_atomic_end();
  __VERIFIER_atomic_begin();
  left++;
  __VERIFIER_atomic_end();
  return 0;
}
"""
        + _MAIN,
        "  left++;\n  __VERIFIER_atomic_end();",
        "  left++;\n  assert(left < entered);\n  __VERIFIER_atomic_end();",
        1,
    ),
}
