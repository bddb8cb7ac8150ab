"""Running the unbounded engine in tests: every violation must replay."""

from __future__ import annotations

import time
from pathlib import Path

from plait.c import FrontEndOptions, load
from plait.engines.impact.engine import verify
from plait.engines.impact.settings import Settings
from plait.engines.interface import Counterexample, Outcome
from plait.evidence.confirm import confirmed
from plait.evidence.counterexample import NotShown
from plait.evidence.replay import ReplayFailed
from plait.model.program import Program
from plait.model.properties import Specification

PROGRAMS = Path(__file__).parent / "programs"
BENCHMARKS = Path(__file__).parents[3] / "benchmarks" / "impact"
DEFAULT = Settings()


def loaded(path: Path, specification: Specification | None = None) -> Program:
    return load([str(path)], FrontEndOptions(), specification or Specification())


def outcome_of(
    program: Program,
    settings: Settings = DEFAULT,
    seconds: float = 20,
    specification: Specification | None = None,
) -> Outcome:
    chosen = specification or Specification()

    def confirm(found: Counterexample) -> str:
        try:
            confirmed(program, chosen, found)
        except (ReplayFailed, NotShown) as error:
            return f"not replayed: {error}"
        return ""

    deadline = time.monotonic() + seconds
    return verify(program, chosen, settings, deadline, confirm=confirm)


def outcome_of_text(text: str, folder: Path, settings: Settings = DEFAULT) -> Outcome:
    path = folder / "program.c"
    path.write_text(text)
    return outcome_of(loaded(path), settings)
