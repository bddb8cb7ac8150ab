"""The engine says what it begins: for each bound it unrolls, encodes and solves."""

from __future__ import annotations

from pathlib import Path

from plait.c import FrontEndOptions, load
from plait.engines.interface import Answer
from plait.engines.orders import engine
from plait.engines.orders.outcome import Phase, Statistics
from plait.engines.orders.settings import Settings
from plait.model.program import Program
from plait.model.properties import Specification

LOOP = """
#include <assert.h>
int main(void) { int i = 0; while (i < 3) i++; assert(i == 3); }
"""


def loaded(folder: Path, text: str = LOOP) -> Program:
    source = folder / "a.c"
    source.write_text(text)
    return load([str(source)], FrontEndOptions(), Specification())


def test_deepening(tmp_path: Path) -> None:
    heard: list[tuple[int, Phase]] = []

    def doing(phase: Phase, statistics: Statistics) -> None:
        heard.append((statistics.bound, phase))

    outcome = engine.verify(loaded(tmp_path), Settings(), doing=doing)
    assert outcome.answer is Answer.HOLDS
    bounds = list(dict.fromkeys(bound for bound, _ in heard))
    assert bounds == sorted(bounds) and bounds[0] == 1
    for bound in bounds:
        phases = [phase for number, phase in heard if number == bound]
        assert phases[:3] == [Phase.UNROLLING, Phase.ENCODING, Phase.SOLVING]


def test_one_bound(tmp_path: Path) -> None:
    heard: list[Phase] = []

    def doing(phase: Phase, statistics: Statistics) -> None:
        heard.append(phase)
        assert statistics.bound == 5
        assert (statistics.clauses > 0) == (phase is Phase.SOLVING)

    engine.verify(loaded(tmp_path), Settings(unwind=5), doing=doing)
    assert heard == [Phase.UNROLLING, Phase.ENCODING, Phase.SOLVING]


def test_a_counterexample_that_is_not_accepted(tmp_path: Path) -> None:
    """Solving goes on, and the engine says so again."""
    heard: list[str] = []

    def refuse(found: object) -> str:
        heard.append("confirm")
        return "no"

    def doing(phase: Phase, statistics: Statistics) -> None:
        heard.append(phase.value)

    program = loaded(tmp_path, LOOP.replace("i == 3", "i == 2"))
    engine.verify(program, Settings(unwind=5), None, None, refuse, doing)
    assert heard[:3] == ["unrolling", "encoding", "solving"]
    assert "confirm" in heard[3:]
    assert "solving" in heard[heard.index("confirm") :]
