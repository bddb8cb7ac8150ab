"""Running the engine in tests: every violation must replay."""

from __future__ import annotations

import time
from typing import Any

from plait.engines.interface import Counterexample, Outcome
from plait.engines.predicates.engine import verify
from plait.engines.predicates.settings import Settings
from plait.evidence.confirm import confirmed
from plait.evidence.counterexample import NotShown
from plait.evidence.replay import ReplayFailed
from plait.model.program import Program
from plait.model.properties import Specification

DEFAULT = Settings()


def outcome_of(
    program: Program, settings: Settings = DEFAULT, seconds: float = 60, hints: Any = None
) -> Outcome:
    def confirm(found: Counterexample) -> str:
        try:
            confirmed(program, Specification(), found)
        except (ReplayFailed, NotShown) as error:
            return f"not replayed: {error}"
        return ""

    deadline = time.monotonic() + seconds
    return verify(program, Specification(), settings, deadline, confirm=confirm, hints=hints)
