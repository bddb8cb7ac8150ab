"""The rules against exhaustive exploration: the laziest certificates that they allow, with random
switch points, for small random programs. A program with a violation has no certificate at all."""

from __future__ import annotations

import random
from pathlib import Path

from plait.certificates.verdicts import Answer
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


def answers(program: Program, seed: int, most_nodes: int) -> list[Answer]:
    """With switch points everywhere, at some accesses, and only where they must be."""
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
    return found


def compare(folder: Path, seed: int, most_nodes: int) -> tuple[str, list[Answer]]:
    program = program_of(folder, generate(seed))
    exploration = explore(program, ASSERTIONS, ExploreOptions(max_states=20_000, max_seconds=20))
    verdict = exploration.verdict.value
    found = answers(program, seed, most_nodes)
    if verdict != "true":
        assert Answer.ACCEPTED not in found, f"seed {seed} is {verdict}: {exploration.reason}"
    return verdict, found


# Programs that are done quickly; any others do as well.
SEEDS = (2, 4, 7, 15, 18, 22, 23, 35, 36, 42, 46, 47, 55, 56, 58, 59)


def test_small_programs(tmp_path: Path) -> None:
    seen = [compare(tmp_path, seed, 150) for seed in SEEDS]
    assert {"true", "false"} <= {verdict for verdict, _ in seen}
    assert sum(Answer.ACCEPTED in found for _, found in seen) >= 8
