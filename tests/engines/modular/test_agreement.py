"""The modular engine against exhaustive exploration, on random programs: what it proves must hold,
and its facts must be true in all states that are found and along random runs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.engines.modular.watching import refuted_by_run, refuted_in_states

from compare_verdicts import GENERATORS
from plait.c import FrontEndOptions, load
from plait.engines.interface import Answer
from plait.engines.modular.engine import verify
from plait.model.facts import decode, encode
from plait.model.properties import from_names
from plait.semantics.explore import ExploreOptions, Verdict, explore

PROPERTIES = (
    "assertions", "no-data-race", "no-overflow", "valid-memsafety", "no-deadlock", "lock-misuse"
)  # fmt: skip
MANY = int(os.environ.get("PLAIT_MANY", "1"))  # `make compare-verdicts` looks at more
LIMITS = ("more than ", "time is up")


@pytest.mark.parametrize("programs", GENERATORS)
@pytest.mark.parametrize("name", PROPERTIES)
def test_agrees(programs: str, name: str, tmp_path: Path) -> None:
    specification = from_names([name])
    for seed in range(5000, 5000 + MANY):
        path = tmp_path / "program.c"
        path.write_text(GENERATORS[programs](seed))
        program = load([str(path)], FrontEndOptions(), specification)
        outcome = verify(program, specification)
        oracle = explore(program, specification, ExploreOptions(max_states=800, keep_states=True))
        if outcome.answer is Answer.HOLDS and not oracle.reason.startswith(LIMITS):
            assert oracle.verdict is Verdict.TRUE, (seed, oracle.reason)
        assert not refuted_in_states(program, outcome.facts, oracle.reached), seed
        assert not refuted_by_run(program, specification, outcome.facts, seed), seed
        assert decode(encode(outcome.facts)) == list(outcome.facts)
