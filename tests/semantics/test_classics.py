"""Locks and lock-free structures under C11: right as they are, and wrong with one order weakened."""

from __future__ import annotations

from pathlib import Path

import pytest

from plait.portfolio.subject import Subject, for_exploring, load_program, specification
from plait.semantics.explore import Exploration, ExploreOptions, Verdict, explore

FOLDER = Path(__file__).parents[1] / "classics"
NAMES = sorted(file.stem for file in FOLDER.glob("*.c"))
RELAXED = "memory_order_relaxed"
WEAKENED = [(name, macro) for name in NAMES for macro in ("ACQ", "REL")]
# The fences of the reader and of the writer.
WEAKENED += [("seqlock", "RF"), ("seqlock", "WF")]


def explored(name: str, *defines: str, model: str = "c11") -> Exploration:
    subject = Subject(programs=(str(FOLDER / f"{name}.c"),), defines=defines, memory_model=model)
    chosen, entry = specification(subject)
    program = load_program(subject, chosen, entry)
    chosen = for_exploring(program, chosen)
    return explore(program, chosen, ExploreOptions())


@pytest.mark.parametrize("name", NAMES)
def test_the_right_one_is_proved(name: str) -> None:
    found = explored(name)
    assert found.verdict is Verdict.TRUE, found.reason


@pytest.mark.parametrize(("name", "macro"), WEAKENED)
def test_the_weakened_one_is_refuted(name: str, macro: str) -> None:
    found = explored(name, f"{macro}={RELAXED}")
    assert found.verdict is Verdict.FALSE, found.reason
    assert found.violation is not None
    assert found.violation.kind == "assertions" or "data race" in found.violation.message


def test_a_loop_of_effects_has_no_proof(tmp_path: Path) -> None:
    """What the limit leaves out must not look like a race either."""
    source = """
    #include "orders.h"
    atomic_int go, x;
    int y;
    void *count(void *p) {
      while (!atomic_load_explicit(&go, RLX)) atomic_fetch_add_explicit(&x, 1, RLX);
      y = 1;
      return 0;
    }
    int main(void) {
      pthread_t t;
      pthread_create(&t, 0, count, 0);
      atomic_store_explicit(&go, 1, RLX);
      pthread_join(t, 0);
      assert(y == 1);
    }
    """
    file = tmp_path / "loop.c"
    file.write_text(source)
    subject = Subject(programs=(str(file),), include_dirs=(str(FOLDER),), memory_model="c11")
    chosen, entry = specification(subject)
    program = load_program(subject, chosen, entry)
    chosen = for_exploring(program, chosen)
    found = explore(program, chosen, ExploreOptions())
    assert found.verdict is Verdict.UNKNOWN and "events in a thread" in found.reason
