"""Labels of an earlier proof as candidates: fewer refinements, never another answer."""

from __future__ import annotations

import json
import time
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.engines.impact.helpers import PROGRAMS, loaded

from plait.certificates.check import check
from plait.certificates.fingerprint import fingerprint
from plait.certificates.reading import read
from plait.certificates.verdicts import Ruling
from plait.engines.impact.engine import verify
from plait.engines.impact.settings import Explicit, Reduction, Settings
from plait.engines.interface import Answer, Outcome
from plait.model.program import Program
from plait.model.properties import Specification

EXAMPLES = Path(__file__).parents[3] / "examples"
PETERSON = EXAMPLES / "peterson.c"
SLOW = {"fig1", "rwlock", "covered_leaf"}
SAFE = [
    *(path for path in sorted(PROGRAMS.glob("*_safe.c")) if path.stem[:-5] not in SLOW),
    PETERSON,
]
PAIRS = [path for path in SAFE if path.with_name(f"{path.stem[:-5]}_unsafe.c").exists()]
ASSERTIONS = Specification()


def proved(program: Program, chosen: Settings, hints: Any = None) -> Outcome:
    return verify(program, ASSERTIONS, chosen, time.monotonic() + 30, hints=hints)


@cache
def hints_for(path: Path) -> str:
    """From the proof of a program."""
    return json.dumps(hints_of(proved(loaded(path), Settings())))


def hints_of(outcome: Outcome) -> Any:
    assert outcome.proof is not None
    return json.loads(json.dumps(outcome.proof.predicates()))


def edited(path: Path, folder: Path) -> Program:
    text = path.read_text().replace("int main(void) {", "int main(void) {\n  more();", 1)
    target = folder / path.name
    target.write_text(f"static int unrelated;\nstatic void more(void) {{ unrelated++; }}\n\n{text}")
    return loaded(target)


def is_accepted(program: Program, outcome: Outcome) -> bool:
    assert outcome.proof is not None
    document = outcome.proof.certificate() | {"options": [], "fingerprint": fingerprint(program)}
    found = check(program, ASSERTIONS, read(json.dumps(document)), time.monotonic() + 60)
    return found.answer is Ruling.ACCEPTED


@pytest.mark.parametrize("path", SAFE, ids=lambda path: path.stem)
def test_an_edited_program_is_proved_again(path: Path, tmp_path: Path) -> None:
    hints = json.loads(hints_for(path))
    program = edited(path, tmp_path)
    helped = proved(program, Settings(), hints)
    assert helped.answer is Answer.HOLDS
    assert is_accepted(program, helped)


@pytest.mark.parametrize("stem", ["equal_counters", "semaphore"])
def test_labels_that_have_to_say_everything(stem: str, tmp_path: Path) -> None:
    chosen = Settings(explicit=Explicit.POINTERS)
    path = PROGRAMS / f"{stem}_safe.c"
    first = proved(loaded(path), chosen)
    if first.answer is not Answer.HOLDS:
        pytest.skip(first.reason)
    program = edited(path, tmp_path)
    helped = proved(program, chosen, hints_of(first))
    assert helped.answer is Answer.HOLDS
    assert helped.statistics.refinements <= first.statistics.refinements


def test_refinements_are_saved(tmp_path: Path) -> None:
    program = edited(PETERSON, tmp_path)
    alone = proved(program, Settings())
    helped = proved(program, Settings(), json.loads(hints_for(PETERSON)))
    assert alone.statistics.refinements > 5
    assert helped.statistics.refinements == 0
    assert helped.statistics.suggested > 0
    assert helped.statistics.nodes <= alone.statistics.nodes


@pytest.mark.parametrize("path", PAIRS, ids=lambda path: path.stem)
def test_the_proof_of_a_safe_program_does_not_hide_an_error(path: Path) -> None:
    hints = json.loads(hints_for(path))
    unsafe = loaded(path.with_name(f"{path.stem[:-5]}_unsafe.c"))
    assert proved(unsafe, Settings(), hints).answer is Answer.VIOLATED


@pytest.mark.parametrize("hints", [None, {}, {"terms": [], "places": {}}, {"terms": 1}])
def test_no_hints_change_nothing(hints: Any) -> None:
    program = loaded(PETERSON)
    alone, found = proved(program, Settings()), proved(program, Settings(), hints)
    assert found.statistics.nodes == alone.statistics.nodes
    assert found.statistics.refinements == alone.statistics.refinements


@st.composite
def damaged(draw: st.DrawFn, data: Any) -> Any:
    """Anything in the place of some part."""
    data = json.loads(json.dumps(data))
    for _ in range(draw(st.integers(1, 6))):
        inner = data
        while isinstance(inner, dict | list) and inner:
            keys = sorted(inner) if isinstance(inner, dict) else list(range(len(inner)))
            key = draw(st.sampled_from(keys))
            is_deep = isinstance(inner[key], dict | list) and inner[key]
            if is_deep and draw(st.integers(0, 5)):
                inner = inner[key]
                continue
            old = inner[key]
            numbers = st.integers(-2, 40) | st.sampled_from([1 << 40, 1 << 200, 32, 64])
            if type(old) is int:
                inner[key] = draw(numbers)
            else:
                names = st.sampled_from(["eq", "ult", "not", "extract", "variable", "concat", ""])
                inner[key] = draw(
                    numbers | names | st.none() | st.lists(st.integers(0, 9), max_size=3)
                )
            break
    return data


@pytest.mark.parametrize("stem", ["equal_counters", "double_counter"])
@settings(deadline=None, max_examples=5, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_damaged_hints_change_no_answer(stem: str, data: st.DataObject) -> None:
    safe = loaded(PROGRAMS / f"{stem}_safe.c")
    hints = data.draw(damaged(json.loads(hints_for(PROGRAMS / f"{stem}_safe.c"))))
    outcome = proved(safe, Settings(), hints)
    assert outcome.answer is Answer.HOLDS
    assert is_accepted(safe, outcome)
    unsafe = loaded(PROGRAMS / f"{stem}_unsafe.c")
    assert proved(unsafe, Settings(), hints).answer is Answer.VIOLATED


_INDICES = """#include <assert.h>
#include <pthread.h>
int x = 1, y; unsigned char k; int a[6] = {1, 0, 2};
void *f(void *u) { unsigned i = 0; { int t = k; a[x & 3] = t + 1; } i = a[3] & 1; return 0; }
void *g(void *u) { unsigned i = 1; x = 3; a[k & 3] = 1; return 0; }
int main(void) {
  unsigned i = 0; pthread_t p[2];
  pthread_create(&p[0], 0, f, 0); pthread_create(&p[1], 0, g, 0);
  pthread_join(p[0], 0); pthread_join(p[1], 0);
  assert(a[(unsigned)(i + x) % 6] != 2); return 0; }
"""


def test_looking_whether_a_tree_is_complete_does_not_change_it(tmp_path: Path) -> None:
    """Whether steps depend on each other was asked anew, and a label that then said so was no more
    covered: the certificate had a node at which nothing was expanded."""
    path = tmp_path / "indices.c"
    path.write_text(_INDICES)
    program = loaded(path)
    outcome = proved(program, Settings(explicit=Explicit.POINTERS))
    assert outcome.answer is Answer.HOLDS, outcome.reason
    assert is_accepted(program, outcome)


_LEFT_OPEN = """#include <pthread.h>
#include <stdlib.h>
#include <string.h>
extern _Bool __VERIFIER_nondet_bool(void);
unsigned n; int *p;
void *f(void *u) { if (n > 2) p[2] = 5; return 0; }
int main(void) {
  pthread_t t; n = __VERIFIER_nondet_bool() ? 2 : 2;
  p = malloc((n + 1) * sizeof *p); memset(p, 0, (n + 1) * sizeof *p);
  pthread_create(&t, 0, f, 0);
  for (unsigned i = 0; i < n; i++) p[i] = i;
  pthread_join(t, 0); return 0; }
"""


def test_an_index_that_a_label_leaves_open(tmp_path: Path) -> None:
    """Where `p[i] = i` is left out, the label only says that it is not `p[2]`: that it stays
    inside of the array is known from where it was made."""
    path = tmp_path / "open.c"
    path.write_text(_LEFT_OPEN)
    program = loaded(path)
    outcome = proved(program, Settings(Reduction.DYNAMIC, Explicit.POINTERS))
    assert outcome.answer is Answer.HOLDS, outcome.reason
    assert is_accepted(program, outcome)
