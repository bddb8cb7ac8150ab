"""The unbounded engine against exhaustive exploration, on random programs, in all configurations;
its certificates must be accepted. `make compare-verdicts` looks at thousands."""

from __future__ import annotations

from pathlib import Path

import pytest

from compare_verdicts import compare, options_of

PARTS = [
    (programs, first)
    for programs in ("mixed", "pointers", "trying", "floats", "sizes")
    for first in (3000,)
]


@pytest.mark.parametrize(("programs", "first"), PARTS)
def test_agrees(programs: str, first: int, tmp_path: Path) -> None:
    chosen = ["--programs", programs, "--first", str(first), "--count", "10"]
    engine = ["--engine", "impact", "--every-configuration", "--check"]
    limits = ["--seconds", "2", "--states", "20000", "--keep", str(tmp_path)]
    result = compare(options_of(["assertions", *chosen, *engine, *limits]))
    assert not result.disagreed
    assert any(found != "unknown" for found, _ in result.pairs)
