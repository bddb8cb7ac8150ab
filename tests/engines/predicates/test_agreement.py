"""The engine against exhaustive exploration, on a few random programs, in configurations that
change; its certificates must be accepted. `make compare-verdicts` looks at thousands."""

from __future__ import annotations

from pathlib import Path

import pytest

from compare_verdicts import compare, options_of

CASES = [
    ("mixed", range(7000, 7002)),
    ("pointers", range(7000, 7002)),
    ("trying", range(7000, 7002)),
]


@pytest.mark.parametrize(("programs", "seeds"), CASES)
def test_agrees(programs: str, seeds: range, tmp_path: Path) -> None:
    chosen = ["--programs", programs, "--first", str(seeds.start), "--count", str(len(seeds))]
    engine = ["--engine", "predicates", "--every-configuration", "--check"]
    limits = ["--seconds", "3", "--states", "20000", "--keep", str(tmp_path)]
    result = compare(options_of(["assertions", *chosen, *engine, *limits]))
    assert not result.disagreements
