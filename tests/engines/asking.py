"""Asking an engine about a program in tests: violations must replay, certificates be accepted."""

from __future__ import annotations

import time
from importlib import import_module
from pathlib import Path

from compare_verdicts import certificate_problem
from plait.c import FrontEndOptions, load
from plait.engines import registry
from plait.engines.interface import Counterexample, Outcome, Progress, Question
from plait.evidence.confirm import confirmed
from plait.evidence.counterexample import NotShown
from plait.evidence.replay import ReplayFailed
from plait.model.facts import Fact
from plait.model.properties import from_names


class Replaying:
    """Repeats what an engine finds, and knows why something does not replay."""

    def __init__(self, question: Question) -> None:
        self._question = question

    def progress(self, progress: Progress) -> None:
        pass

    def facts(self, facts: tuple[Fact, ...]) -> None:
        pass

    def confirm(self, found: Counterexample) -> str:
        try:
            confirmed(self._question.program, self._question.specification, found)
        except (ReplayFailed, NotShown):
            return found.excuse() or "not replayed, and nobody knows why"
        return ""


def outcome_of(engine: str, text: str, folder: Path, property_: str = "assertions") -> Outcome:
    path = folder / "program.c"
    path.write_text(text)
    specification = from_names(property_.split(","))
    program = load([str(path)], FrontEndOptions(), specification)
    chosen = registry.engine(engine)
    question = Question(program, specification, time.monotonic() + 60, settings=chosen.settings({}))
    outcome: Outcome = import_module(chosen.module).answer(question, Replaying(question))
    if outcome.proof is not None:
        document = outcome.proof.certificate()
        assert not certificate_problem(program, specification, document, 60)
    return outcome
