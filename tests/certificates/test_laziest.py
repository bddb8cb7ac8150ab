"""The rules against exhaustive exploration: the laziest certificates that they allow, with random
switch points, for small random programs. A program with a violation has no certificate at all."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from plait.certificates.verdicts import Ruling
from plait.model.program import Program
from plait.semantics.explore import ExploreOptions, explore
from tests.certificates.building import (
    ASSERTIONS,
    Builder,
    TooLarge,
    all_accesses,
    program_of,
    verdict_on,
)
from tests.certificates.small_programs import generate


def answers(program: Program, seed: int, most_nodes: int) -> list[Ruling]:
    """With switch points everywhere, at some accesses, and only where they must be; with and
    without guesses at locks and persistent sets."""
    generator = random.Random(seed)
    everywhere = all_accesses(program)
    some = {
        name: [place for place in places if generator.random() < 0.6]
        for name, places in everywhere.items()
    }
    found = []
    for points in (everywhere, some, {}):
        order = generator.choice([None, seed])
        try:
            builder = Builder(program, points, seed=order, most_nodes=most_nodes)
            found.append(verdict_on(program, builder.document()).answer)
        except TooLarge:
            pass
        try:
            builder = Builder(program, points, seed=order, most_nodes=most_nodes, guesses=seed)
            found.append(verdict_on(program, builder.document()).answer)
        except TooLarge:
            pass
    return found


def compare(folder: Path, seed: int, most_nodes: int) -> tuple[str, list[Ruling]]:
    program = program_of(folder, generate(seed))
    exploration = explore(program, ASSERTIONS, ExploreOptions(max_states=20_000, max_seconds=20))
    verdict = exploration.verdict.value
    found = answers(program, seed, most_nodes)
    if verdict != "true":
        assert Ruling.ACCEPTED not in found, f"seed {seed} is {verdict}: {exploration.reason}"
    return verdict, found


# Programs that are done quickly; any others do as well.
SEEDS = (2, 4, 7, 15, 18, 22, 23, 35)


def test_small_programs(tmp_path: Path) -> None:
    seen = [compare(tmp_path, seed, 150) for seed in SEEDS]
    assert {"true", "false"} <= {verdict for verdict, _ in seen}
    assert sum(Ruling.ACCEPTED in found for _, found in seen) >= 3


HEAD = """#include <assert.h>
#include <pthread.h>
extern void __VERIFIER_assume(int);
extern void __VERIFIER_atomic_begin(void), __VERIFIER_atomic_end(void);
int x, y, z, seen; pthread_mutex_t m;
"""
# What the smaller thread does first in each of these may seem to have nothing to do with what the
# larger one has just done.
UNSAFE = {
    "only the last part of a section depends on the other step": (
        "int i = 0; __VERIFIER_atomic_begin(); while (i < 2) i++; assert(x == 0);"
        " __VERIFIER_atomic_end();",
        "x = 1;",
    ),
    "only the first part of a section depends on the next step": (
        "x = 1; int late = y; if (late) assert(seen == 1);",
        "int i = 0; __VERIFIER_atomic_begin(); seen = x; while (i < 2) i++; y = 1;"
        " __VERIFIER_atomic_end();",
    ),
    "an attempt that comes to nothing": (
        "__VERIFIER_atomic_begin(); __VERIFIER_assume(x == 1); __VERIFIER_atomic_end(); assert(0);",
        "x = 1;",
    ),
    "two pairs of independent steps": ("y = 1; assert(x == 0);", "z = 1; x = 1;"),
    "a byte in the middle": ("assert(((char *)&x)[1] == 0);", "x = 256;"),
}


def unsafe(folder: Path, first: str, second: str, end: str = "") -> Program:
    program = program_of(
        folder,
        f"""{HEAD}
        void *f(void *unused) {{ {first} return 0; }}
        void *g(void *unused) {{ {second} return 0; }}
        int main(void) {{
          pthread_t a, b; pthread_create(&a, 0, f, 0); pthread_create(&b, 0, g, 0);
          pthread_join(a, 0); pthread_join(b, 0); {end} return 0; }}""",
    )
    assert explore(program, ASSERTIONS, ExploreOptions(max_states=20_000)).verdict.value == "false"
    return program


@pytest.mark.parametrize("name", UNSAFE)
def test_no_violation_is_left_out(name: str, tmp_path: Path) -> None:
    program = unsafe(tmp_path, *UNSAFE[name])
    verdict = verdict_on(program, Builder(program).document())
    assert verdict.answer is Ruling.REJECTED
    assert "violation" in verdict.reason


@pytest.mark.parametrize(
    ("condition", "first", "second", "end"),
    [
        # Either of the two would be left out behind the other one.
        ("smaller", "y = 1;", "z = 1;", "assert(!(y && z));"),
        # In front of the last part of the section the smaller thread cannot move.
        (
            "section",
            "assert(x == 0);",
            "int i = 0; __VERIFIER_atomic_begin(); x = 1; while (i < 2) i++; z = 1;"
            " __VERIFIER_atomic_end();",
            "",
        ),
    ],
)
def test_what_may_not_be_skipped(
    condition: str, first: str, second: str, end: str, tmp_path: Path
) -> None:
    program = unsafe(tmp_path, first, second, end)
    document = Builder(program, passed_over=frozenset({condition})).document()
    verdict = verdict_on(program, document)
    assert verdict.answer is Ruling.REJECTED
    assert "violation" not in verdict.reason
