"""What the unbounded engine has no verdict on: it says so, and where."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from tests.engines.impact.helpers import BENCHMARKS, PROGRAMS, loaded, outcome_of

from plait.c import FrontEndOptions, load
from plait.engines.blocks.paths import Paths
from plait.engines.impact.engine import verify
from plait.engines.impact.settings import Settings
from plait.engines.interface import Answer
from plait.logic.interpolation.interpolate import Interpolants, Unknown
from plait.logic.interpolation.path import Step
from plait.model.properties import Specification, from_names
from plait.model.types import DataModel

_LOCALS = range(32)
_DEEP_STACK = (
    "void use(int *p) { *p = 7; } int gg;\nvoid rec(int d) {"
    + " ".join(f"int v{i} = 7;" for i in _LOCALS)
    + "if (d > 0) rec(d - 1); else {"
    + " ".join(f"use(&v{i});" for i in _LOCALS)
    + "} }\nint main(void) { gg = 1; rec(127); assert(gg != 1); }"
)
UNKNOWN = {
    "a stack that is used up": (_DEEP_STACK, DataModel.ILP32, "address space is used up"),
    "a call through a number": (
        "#include <stdint.h>\n#include <pthread.h>\nint x; void g(void) { x = 1; x = 0; }"
        "void *t(void *p) { uintptr_t z = 0x100000000UL * 21; ((void (*)(void))z)(); return 0; }"
        "int main(void) { pthread_t h; g(); pthread_create(&h, 0, t, 0); assert(x == 0); }",
        DataModel.LP64,
        "whose origin is not known",
    ),
    "a call of what may be no function": (
        "#include <pthread.h>\n_Bool __VERIFIER_nondet_bool(void); int f(void) { return 1; }"
        "int (*table[2])(void) = {f}; int n; void *t(void *p) { table[n] = f; return 0; }"
        "int main(void) { pthread_t h; n = __VERIFIER_nondet_bool(); pthread_create(&h, 0, t, 0);"
        "pthread_join(h, 0); assert(table[1]() == 1); }",
        DataModel.LP64,
        "a call through a pointer that is not known",
    ),
    "an access through a number": (
        "#include <string.h>\n#include <pthread.h>\nint x, y;"
        "void *t(void *q) { int *p = &y; p = (int *)(0x100000000UL * 25);"
        "memset(p, 1, 4); memset(p, 0, 4); return 0; }"
        "int main(void) { pthread_t h; memset(&x, 0, 4); pthread_create(&h, 0, t, 0);"
        "assert(x == 0); }",
        DataModel.LP64,
        "",
    ),
    "a pointer beyond its object": (
        "int a[4], b[4]; int main(void) { int *p = &a[4096]; assert(p != b + 1); }",
        DataModel.ILP32,
        "leaves its object",
    ),
    "an access outside of an array": (
        "extern unsigned char __VERIFIER_nondet_uchar(void);"
        "int a[4]; int main(void) { a[__VERIFIER_nondet_uchar()] = 1; assert(1); }",
        DataModel.LP64,
        "outside of its object",
    ),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_unknown(name: str, tmp_path: Path) -> None:
    text, model, reason = UNKNOWN[name]
    path = tmp_path / "program.c"
    path.write_text("#include <assert.h>\n" + text)
    program = load([str(path)], FrontEndOptions(data_model=model), Specification())
    outcome = outcome_of(program)
    assert outcome.answer is Answer.UNKNOWN
    assert reason in outcome.reason


def test_other_properties() -> None:
    program = loaded(BENCHMARKS / "peterson.c")
    outcome = outcome_of(program, specification=from_names(["valid-memsafety"]))
    assert outcome.answer is Answer.UNKNOWN
    assert "valid-memsafety" in outcome.reason


def test_budget_of_nodes_says_what_grew() -> None:
    outcome = outcome_of(loaded(BENCHMARKS / "lamport.c"), Settings(max_nodes=100))
    assert outcome.answer is Answer.UNKNOWN
    assert "more than 100 nodes" in outcome.reason
    assert "lamport.c:" in outcome.reason


def test_time() -> None:
    program = loaded(BENCHMARKS / "read_write_lock_safe.c")
    began = time.monotonic()
    outcome = verify(program, Specification(), Settings(), began + 0.2)
    assert outcome.is_out_of_time
    assert time.monotonic() - began < 5


def test_what_cannot_be_explained_is_no_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths that no interpolation explains are set aside; violations are found on others."""
    explained = Paths.interpolate

    def explain(self: Paths, steps: list[Step]) -> object:
        result = explained(self, steps)
        return Unknown("no idea") if isinstance(result, Interpolants) else result

    monkeypatch.setattr(Paths, "interpolate", explain)
    outcome = outcome_of(loaded(PROGRAMS / "equal_counters_safe.c"))
    assert outcome.answer is Answer.UNKNOWN
    assert "no idea" in outcome.reason
