"""The engine against exhaustive exploration, on a few random programs, in configurations that
change; its certificates must be accepted. `make compare-verdicts` looks at thousands."""

from __future__ import annotations

from pathlib import Path

import pytest

from compare_verdicts import compare, options_of

CASES = [
    ("mixed", range(3005, 3008)),
    ("pointers", range(3006, 3008)),
    ("trying", range(3003, 3006)),
    # A thread that is alone comes again to where its step began, in a function that has no loop.
    ("trying", range(20162, 20163)),
    # Errors that known claims exclude by a triple that their own trace has added.
    ("pointers", range(40109, 40110)),
]


@pytest.mark.parametrize(("programs", "seeds"), CASES)
def test_agrees(programs: str, seeds: range, tmp_path: Path) -> None:
    chosen = ["--programs", programs, "--first", str(seeds.start), "--count", str(len(seeds))]
    engine = ["--engine", "traces", "--every-configuration", "--check"]
    limits = ["--seconds", "5", "--states", "20000", "--keep", str(tmp_path)]
    result = compare(options_of(["assertions", *chosen, *engine, *limits]))
    assert not result.disagreements
