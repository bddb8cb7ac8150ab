"""Running the engine in tests: every violation must replay."""

from __future__ import annotations

import json
import time
from pathlib import Path

from tests.engines.impact.helpers import loaded

from plait.certificates.check import check
from plait.certificates.fingerprint import fingerprint
from plait.certificates.reading import read
from plait.certificates.verdicts import Verdict
from plait.engines.interface import Counterexample, Outcome
from plait.engines.traces.engine import verify
from plait.engines.traces.settings import Settings
from plait.evidence.replay import ReplayFailed, replay_blocks
from plait.model.facts import Fact
from plait.model.program import Program
from plait.model.properties import Specification

DEFAULT = Settings()


def outcome_of(
    program: Program,
    settings: Settings = DEFAULT,
    seconds: float = 60,
    known: tuple[Fact, ...] = (),
) -> Outcome:
    def confirm(found: Counterexample) -> str:
        try:
            replay_blocks(program, Specification(), found)
        except ReplayFailed as error:
            return f"not replayed: {error}"
        return ""

    deadline = time.monotonic() + seconds
    return verify(
        program, Specification(), settings, deadline, confirm=confirm, known=lambda: known
    )


def program_of(text: str, folder: Path) -> Program:
    path = folder / "program.c"
    path.write_text(text)
    return loaded(path)


def checked(program: Program, outcome: Outcome) -> Verdict:
    """What the checker says of the certificate."""
    assert outcome.proof is not None, outcome.reason
    document = outcome.proof.certificate()
    assert document is not None
    document |= {"options": [], "fingerprint": fingerprint(program)}
    return check(program, Specification(), read(json.dumps(document)))
