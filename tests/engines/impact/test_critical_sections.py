"""Critical sections as single steps, and threads that go ahead of others: in `f` and `g`, two
threads, something goes wrong only in the middle of a section, or in another order."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.certificates.building import Builder
from tests.engines.impact.helpers import loaded, outcome_of

import plait
from plait.analysis.critical_sections import Discipline
from plait.certificates.check import check
from plait.certificates.reading import read
from plait.certificates.verdicts import Ruling
from plait.engines.blocks.persistent import PersistentSets
from plait.engines.impact.settings import Reduction, Settings
from plait.engines.interface import Answer
from plait.model.program import Program
from plait.model.properties import Specification

HEAD = """#include <assert.h>
#include <pthread.h>
extern void __VERIFIER_assume(int);
extern void __VERIFIER_atomic_begin(void), __VERIFIER_atomic_end(void);
int x, y, z, flag;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
void *fails(void *unused) { assert(0); return 0; }
void take(int free) { __VERIFIER_atomic_begin();
  __VERIFIER_assume(flag == 0 || flag == free); flag = 1 + free; __VERIFIER_atomic_end(); }
void drop(void) { __VERIFIER_atomic_begin(); flag = 0; __VERIFIER_atomic_end(); }
"""
LOCK, UNLOCK = "pthread_mutex_lock(&m);", "pthread_mutex_unlock(&m);"
UNSAFE = {
    "an access without the lock": (f"{LOCK} x = 1; x = 0; {UNLOCK}", "assert(x == 0);"),
    "a write without the lock": (f"{LOCK} x = 1; assert(x == 1); {UNLOCK}", "x = 2;"),
    "an attempt that succeeds only in the middle": (
        f"{LOCK} x = 1; x = 0; {UNLOCK}",
        "__VERIFIER_atomic_begin(); __VERIFIER_assume(x == 1); __VERIFIER_atomic_end(); assert(0);",
    ),
    "another lock": (
        f"{LOCK} x = 1; x = 0; {UNLOCK}",
        "pthread_mutex_lock(&n); assert(x == 0); pthread_mutex_unlock(&n);",
    ),
    "a look at the lock itself": ("take(0); x = 1; drop();", "int seen = flag; assert(!seen);"),
    "somebody who takes the lock although it is held": (
        "take(0); x = 1; x = 0; drop();",
        "take(1); assert(x == 0); drop();",
    ),
    "a lock that somebody else releases": (
        "take(0); x = 1; x = 0; drop();",
        "drop(); take(0); assert(x == 0); drop();",
    ),
    "a thread that is started in the middle": (
        "",
        f"pthread_t t; {LOCK} pthread_create(&t, 0, fails, 0); __VERIFIER_assume(0); {UNLOCK}",
    ),
    "a loop in the section": (
        f"{LOCK} for (int i = 0; i < 3; i++) x++; {UNLOCK}",
        "int seen = x; assert(seen == 0 || seen == 3);",
    ),
    "a violation in the section": (f"{LOCK} x++; assert(y == 0); {UNLOCK}", "y = 1;"),
    "a thread that is stopped behind what others see": (
        f"{LOCK} x = 1; {UNLOCK} __VERIFIER_assume(0);",
        f"{LOCK} assert(x == 0); {UNLOCK}",
    ),
    "a conflict with what the other does at last": (
        "z = 1; x = 1; x = 0;",
        "y = 1; int seen = x; assert(seen == 0);",
    ),
    "an access that can be made earlier": (
        "assert(x == 0);",
        f"for (int i = 0; i < 1; i++) {{ z = y; }} {LOCK} x = 1; x = 0; {UNLOCK}",
    ),
    "a chain of steps ahead": (
        "x = 1; y = 1; z = 1;",
        "int a = z; int b = y; int c = x; assert(a == 0 || c == 1); assert(!(c == 1 && b == 0));",
    ),
}
SAFE = {
    "a counter": (f"{LOCK} x++; y++; {UNLOCK}", f"{LOCK} assert(x == y); x++; y++; {UNLOCK}"),
    "a flag as a lock": ("take(0); x = 1; x = 0; drop();", "take(0); assert(x == 0); drop();"),
    "a loop in the section": (
        f"{LOCK} for (int i = 0; i < 3; i++) x++; {UNLOCK}",
        f"{LOCK} assert(x == 0 || x == 3); {UNLOCK}",
    ),
    "a section that never ends": (
        f"{LOCK} x = 1; __VERIFIER_assume(0); {UNLOCK}",
        f"{LOCK} assert(x == 0); {UNLOCK}",
    ),
    "what nobody sees before a thread is stopped": (
        "static int own; take(0); own = x; drop(); __VERIFIER_assume(own == 1); assert(x == 1);",
        "take(0); x = 1; drop();",
    ),
}


def program_of(folder: Path, threads: tuple[str, str]) -> Program:
    path = folder / "program.c"
    path.write_text(
        f"""{HEAD}
        void *f(void *unused) {{ {threads[0]} return 0; }}
        void *g(void *unused) {{ {threads[1]} return 0; }}
        int main(void) {{
          pthread_t a, b; pthread_create(&a, 0, f, 0); pthread_create(&b, 0, g, 0); return 0; }}"""
    )
    return loaded(path)


@pytest.mark.parametrize("name", UNSAFE)
def test_violations_are_found(name: str, tmp_path: Path) -> None:
    outcome = outcome_of(program_of(tmp_path, UNSAFE[name]))
    assert outcome.answer is Answer.VIOLATED, outcome.reason


@pytest.mark.parametrize("name", UNSAFE)
def test_no_certificate_leaves_them_out(name: str, tmp_path: Path) -> None:
    """Whatever is guessed, the checker finds out."""
    program = program_of(tmp_path, UNSAFE[name])
    for seed in range(4):
        document = Builder(program, {}, guesses=seed, ahead=0.3 * seed).document()
        verdict = check(program, Specification(), read(json.dumps(document)))
        assert verdict.answer is Ruling.REJECTED, f"{seed}: {verdict}"


@pytest.mark.parametrize("name", SAFE)
def test_proofs(name: str, tmp_path: Path) -> None:
    program = program_of(tmp_path, SAFE[name])
    outcome = outcome_of(program)
    assert outcome.answer is Answer.HOLDS, outcome.reason
    larger = outcome_of(program, Settings(Reduction.DYNAMIC))
    assert outcome.statistics.nodes < larger.statistics.nodes
    assert outcome.proof is not None
    document = outcome.proof.certificate()
    document.update(options=[], fingerprint="0" * 64)
    assert document["locks"]
    verdict = check(program, Specification(), read(_signed(program, document)))
    assert verdict.answer is Ruling.ACCEPTED, verdict.reason


def _signed(program: Program, document: dict[str, object]) -> str:
    from plait.certificates.fingerprint import fingerprint

    return json.dumps({**document, "fingerprint": fingerprint(program)})


@pytest.mark.parametrize(
    "name", ["a conflict with what the other does at last", "a chain of steps ahead"]
)
def test_wrong_guesses_are_made_up_for(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without having seen what threads do, the first guess is always that nobody conflicts."""
    monkeypatch.setattr(PersistentSets, "rehearse", lambda self: None)
    outcome = outcome_of(program_of(tmp_path, UNSAFE[name]))
    assert outcome.answer is Answer.VIOLATED, outcome.reason
    assert outcome.statistics.mistaken > 0


def test_a_step_that_is_left_out_is_compared_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine is made to overlook what happens in the middle of sections; the checker is not."""
    monkeypatch.setattr(Discipline, "note", lambda *_: None)
    program = program_of(tmp_path, UNSAFE["an access that can be made earlier"])
    outcome = outcome_of(program)
    assert outcome.answer is Answer.HOLDS and outcome.proof is not None
    document = outcome.proof.certificate() | {"options": []}
    verdict = check(program, Specification(), read(_signed(program, document)))
    assert verdict.answer is Ruling.REJECTED
    assert "critical section" in verdict.reason


def test_a_thread_that_ends_with_the_lock(tmp_path: Path) -> None:
    """Its step goes on to the end of the critical section in a replay, and that is its own end."""
    path = tmp_path / "program.c"
    path.write_text(
        f"""{HEAD}
        int lock = 1, h;
        void *f(void *unused) {{
          __VERIFIER_atomic_begin(); lock = 0; __VERIFIER_atomic_end();
          __VERIFIER_atomic_begin(); __VERIFIER_assume(lock == 0); lock = 1; __VERIFIER_atomic_end();
          return 0; }}
        void *g(void *unused) {{ return 0; }}
        int main(void) {{
          pthread_t a, b; pthread_create(&a, 0, f, 0); pthread_create(&b, 0, g, 0);
          assert(h == 30); return 0; }}"""
    )
    result = plait.verify(path, engine="impact", cache=False)
    assert result.verdict == "false", result.reason
