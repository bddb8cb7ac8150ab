"""The bounded engine against exhaustive exploration, on a few random programs of each kind.
`make compare-verdicts` looks at thousands."""

from __future__ import annotations

from pathlib import Path

import pytest

from compare_verdicts import compare, options_of

CASES = [
    ("assertions", "mixed", range(1001, 1006), ()),
    ("assertions", "mixed", range(1007, 1009), ("--bound", "2")),
    ("assertions", "pointers", range(1000, 1005), ()),
    ("assertions", "trying", range(1004, 1009), ()),
    ("assertions", "floats", range(1004, 1007), ()),
    ("assertions", "sizes", range(1000, 1003), ()),
    ("no-data-race", "sizes", range(1000, 1003), ()),
    ("no-data-race", "mixed", range(1000, 1005), ()),
    ("no-deadlock", "mixed", range(1003, 1006), ()),
    ("no-deadlock", "waiting", range(1003, 1007), ()),
    ("valid-memsafety", "pointers", range(1000, 1004), ()),
    ("lock-misuse", "mixed", range(1004, 1006), ()),
]


@pytest.mark.parametrize(("property_", "programs", "seeds", "options"), CASES)
def test_agrees(
    property_: str, programs: str, seeds: range, options: tuple[str, ...], tmp_path: Path
) -> None:
    chosen = ["--first", str(seeds.start), "--count", str(len(seeds)), "--programs", programs]
    limits = ["--seconds", "60", "--states", "5000", "--keep", str(tmp_path)]
    result = compare(options_of([property_, *chosen, *options, *limits]))
    assert not result.disagreements
    assert not result.reasons  # for having no verdict
