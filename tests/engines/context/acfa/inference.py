"""Context inference for tests: over the templates of a program, and as a user would see it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.engines.context.pairs import loaded

from plait.analysis.sharing import sharing_of
from plait.engines.context.acfa import search
from plait.engines.context.acfa.circ import Circ
from plait.engines.context.subject import Subject
from plait.engines.context.variables import Variables
from plait.engines.interface import Counterexample, Outcome
from plait.evidence.confirm import confirmed
from plait.evidence.counterexample import NotShown
from plait.evidence.replay import ReplayFailed
from plait.model.properties import Property, from_names


def circ_of(text: str, folder: Path, properties: Sequence[str]) -> tuple[Circ, Subject]:
    specification = from_names(list(properties))
    program = loaded(text, folder, specification)
    subject = Subject(program, sharing_of(program), specification, frozenset(), None)
    circ = Circ(
        subject.templates,
        Variables(subject.templates, subject.terms),
        subject.terms,
        subject.initial_value,
        None,
        are_racing=Property.NO_DATA_RACE in specification,
    )
    return circ, subject


def verified(text: str, folder: Path, properties: Sequence[str] = ("assertions",)) -> Outcome:
    """With the interpreter to confirm violations."""
    specification = from_names(list(properties))
    program = loaded(text, folder, specification)

    def confirm(found: Counterexample) -> str:
        try:
            confirmed(program, specification, found)
        except (ReplayFailed, NotShown) as failure:
            return str(failure)
        return ""

    return search.verify(program, specification, confirm=confirm)
