"""The bounded engine against exhaustive exploration, on random programs. `make compare-verdicts`
looks at thousands."""

from __future__ import annotations

from pathlib import Path

import pytest

from compare_verdicts import compare, options_of

CASES = [
    ("assertions", "mixed", 30, ()),
    ("assertions", "mixed", 10, ("--bound", "2")),
    ("assertions", "pointers", 20, ()),
    ("assertions", "trying", 20, ()),
    ("assertions", "floats", 10, ()),
    ("assertions", "sizes", 10, ()),
    ("no-data-race", "sizes", 10, ()),
    ("no-data-race", "mixed", 20, ()),
    ("no-deadlock", "mixed", 10, ()),
    ("no-deadlock", "waiting", 20, ()),
    ("valid-memsafety", "pointers", 10, ()),
    ("lock-misuse", "mixed", 10, ()),
]
PARTS = [
    (property_, programs, first, options)
    for property_, programs, count, options in CASES
    for first in range(1000, 1000 + count, 10)
]


@pytest.mark.parametrize(("property_", "programs", "first", "options"), PARTS)
def test_agrees(
    property_: str, programs: str, first: int, options: tuple[str, ...], tmp_path: Path
) -> None:
    chosen = ["--programs", programs, "--first", str(first), "--count", "10", *options]
    limits = ["--seconds", "2", "--states", "5000", "--keep", str(tmp_path)]
    result = compare(options_of([property_, *chosen, *limits]))
    assert not result.disagreed
    decided = sum(count for (found, _), count in result.pairs.items() if found != "unknown")
    assert decided >= 4
