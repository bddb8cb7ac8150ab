"""What longjmp does: verdicts, what C leaves undefined, and what plait does not know. (What setjmp
returns and what locals hold is compared with gcc in tests/programs/language/jumps.c.)"""

from __future__ import annotations

from pathlib import Path

import pytest

from plait.engines.interface import Answer
from plait.model.properties import from_names
from plait.semantics.explore import ExploreOptions, explore
from tests.c.support import program
from tests.engines.asking import outcome_of

HEAD = """#include <assert.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
jmp_buf env, other;
int x;
"""
TWO = "pthread_t t; pthread_create(&t, 0, run, 0); pthread_join(t, 0);"


def answer(tmp_path: Path, text: str, properties: str = "assertions,no-undefined") -> str:
    names = properties.split(",")
    loaded = program(tmp_path, HEAD + text, tuple(names))
    found = explore(loaded, from_names(names), ExploreOptions(max_seconds=20))
    return "true" if found.verdict.value == "true" else f"{found.verdict.value}: {found.reason}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("int main(void) { longjmp(env, 1); }", "to where no setjmp was called"),
        (
            "int set(void) { return setjmp(env); } int main(void) { if (!set()) longjmp(env, 1); }",
            "to a function that has returned",
        ),
        (  # the frame that has taken its place is another one
            "int set(void) { return setjmp(env); } int again(void) { return setjmp(other); }"
            "void late(void) { if (!setjmp(other)) longjmp(env, 1); }"
            "int main(void) { set(); late(); return 0; }",
            "to a function that has returned",
        ),
        (  # it is set anew by one that returns
            "int set(void) { return setjmp(env); }"
            "int main(void) { if (!setjmp(env)) { set(); longjmp(env, 1); } return 0; }",
            "to a function that has returned",
        ),
        (
            "void inner(void) { if (!setjmp(other)) longjmp(env, 1); }"
            "int main(void) { if (!setjmp(env)) inner(); else longjmp(other, 1); }",
            "to a function that has returned",
        ),
        (
            "void end(void *p) { } void work(void) { pthread_cleanup_push(end, 0); longjmp(env, 1);"
            " pthread_cleanup_pop(0); } int main(void) { if (!setjmp(env)) work(); return 0; }",
            "between pthread_cleanup_push and pthread_cleanup_pop",
        ),
        (
            "void *run(void *a) { longjmp(env, 1); } "
            f"int main(void) {{ if (!setjmp(env)) {{ {TWO} }} }}",
            "to a setjmp of another thread",
        ),
    ],
)
def test_what_is_undefined(text: str, message: str, tmp_path: Path) -> None:
    assert answer(tmp_path, text).startswith("false: "), answer(tmp_path, text)
    assert message in answer(tmp_path, text)
    assert answer(tmp_path, text, "assertions").startswith("unknown: ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "int main(void) { if (!setjmp(env)) { memcpy(other, env, sizeof env);"
            " longjmp(other, 1); } }",
            "a copy of what setjmp has set",
        ),
        (
            "void change(int *p) { *p = 2; longjmp(env, 1); }"
            "int main(void) { int a = 1; if (!setjmp(env)) change(&a); assert(a == 2); }",
            "the value of 'a', which was changed since setjmp",
        ),
        (
            "int main(void) { int a[2] = {0, 1}; if (!setjmp(env)) { a[x] = 2; longjmp(env, 1); }"
            " assert(a[0] == 2); }",
            "the value of 'a', which was changed since setjmp",
        ),
        (
            "void __VERIFIER_atomic_f(void) { longjmp(env, 1); }"
            "int main(void) { if (!setjmp(env)) __VERIFIER_atomic_f(); }",
            "a jump out of '__VERIFIER_atomic_f'",
        ),
        (
            "void end(void *p) { longjmp(env, 1); }"
            "int main(void) { if (!setjmp(env)) { pthread_cleanup_push(end, 0);"
            " pthread_exit(0); pthread_cleanup_pop(0); } }",
            "a jump out of a function that is called at the end",
        ),
        (
            "jmp_buf many[2]; int main(void) { for (volatile int i = 0; i < 2; i++)"
            " if (setjmp(many[i])) return 0; longjmp(many[0], 1); }",
            "a call of setjmp that was called again since",
        ),
        ("int (*set)(struct __jmp_buf_tag *) = _setjmp; int main(void) { set(env);"
         " longjmp(env, 1); }", "a pointer to"),
    ],
)  # fmt: skip
def test_what_is_not_known(text: str, message: str, tmp_path: Path) -> None:
    found = answer(tmp_path, text)
    assert found.startswith("unknown: ")
    assert message in found
    assert "main.c:8:" in found


def test_a_changed_local_has_any_value(tmp_path: Path) -> None:
    text = (
        "int main(void) {{ {} a = 1; if (!setjmp(env)) {{ {} longjmp(env, 1); }}"
        " assert(a == {}); return 0; }}"
    )
    assert answer(tmp_path, text.format("volatile int", "a = 2;", 2)) == "true"
    assert answer(tmp_path, text.format("static int", "a = 2;", 2)) == "true"
    assert answer(tmp_path, text.format("int", "if (x) a = 2;", 1)) == "true"
    assert answer(tmp_path, text.format("int", "a = 2;", 2)).startswith("false")
    assert answer(tmp_path, text.format("int", "a = 2;", 1)).startswith("false")
    changed_back = text.format("typedef volatile int unsteady; unsteady", "a = 2;", 2)
    assert answer(tmp_path, changed_back) == "true"


def test_a_change_since_an_earlier_setjmp_does_not_matter(tmp_path: Path) -> None:
    text = (
        "int main(void) { int a = 0; for (; a < 3; a++) if (!setjmp(env)) longjmp(env, 1);"
        " assert(a == 3); return 0; }"
    )
    assert answer(tmp_path, text) == "true"


def test_memory_of_frames_that_were_left_is_gone(tmp_path: Path) -> None:
    text = (
        "int *p; void f(void) { int a = 1; p = &a; longjmp(env, 1); }"
        "int main(void) { if (!setjmp(env)) f(); return *p; }"
    )
    assert "false: " in answer(tmp_path, text, "valid-access")


def test_a_jump_to_the_frame_under_one_that_has_set_its_own(tmp_path: Path) -> None:
    text = (
        "void inner(void) { if (!setjmp(other)) { x = 1; longjmp(other, 1); } x++; longjmp(env, 5);"
        " } int main(void) { int r = setjmp(env); if (!r) inner(); assert(r == 5 && x == 2);"
        " if (!setjmp(other)) longjmp(other, 1); return 0; }"
    )
    assert answer(tmp_path, text) == "true"


def test_a_lock_stays_locked(tmp_path: Path) -> None:
    text = (
        "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;"
        "void work(void) { pthread_mutex_lock(&m); longjmp(env, 1); }"
        "int main(void) { if (!setjmp(env)) work(); else pthread_mutex_lock(&m); return 0; }"
    )
    assert answer(tmp_path, text, "no-deadlock").startswith("false: ")


THREADS = """
static _Thread_local jmp_buf mine;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int done, failed;
static void step(int fails) { if (fails) longjmp(mine, 1); }
static void *run(void *argument) {
  if (setjmp(mine) == 0) {
    step(argument != 0);
    pthread_mutex_lock(&m); done++; pthread_mutex_unlock(&m);
  } else {
    pthread_mutex_lock(&m); failed++; pthread_mutex_unlock(&m);
  }
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, run, 0); pthread_create(&b, 0, run, &x);
  pthread_join(a, 0); pthread_join(b, 0);
  assert(done == EXPECTED && failed == 1);
  return 0;
}
"""


@pytest.mark.parametrize("engine", ["orders", "impact", "explicit"])
def test_engines_follow_jumps(engine: str, tmp_path: Path) -> None:
    right = outcome_of(engine, HEAD + THREADS.replace("EXPECTED", "1"), tmp_path)
    assert right.answer is Answer.HOLDS, right.reason
    wrong = outcome_of(engine, HEAD + THREADS.replace("EXPECTED", "2"), tmp_path)
    assert wrong.answer is Answer.VIOLATED, wrong.reason
