"""Static checks, before everything else: what cheap engines prove, and facts for the others."""

from __future__ import annotations

import time
from importlib import import_module
from typing import TYPE_CHECKING

from plait.engines import registry
from plait.engines.description import EngineDescription, Start
from plait.engines.interface import Answer, Counterexample, Outcome, Progress, Question
from plait.model.facts import encode
from plait.portfolio.messages import Proved, Result
from plait.portfolio.messages import encode as as_row
from plait.portfolio.partial_proofs import (
    PartialProof,
    checked_by,
    is_divisible,
    names_of,
    only,
)

if TYPE_CHECKING:
    from plait.model.facts import Fact
    from plait.model.program import Program
    from plait.model.properties import Specification
    from plait.work.child import Channel

_SHARE = 0.05  # of the time that is left
_SIZES = ("threads", "locations")


class _Facts:
    """Keeps what a check says of all executions; it has no counterexamples."""

    def __init__(self) -> None:
        self.found: tuple[Fact, ...] = ()

    def progress(self, progress: Progress) -> None:
        pass

    def facts(self, facts: tuple[Fact, ...]) -> None:
        self.found += facts

    def confirm(self, found: Counterexample) -> str:
        return "static checks do not replay"


def static_checks(
    questions: list[tuple[Specification, Program]],
    deadline: float | None,
    send: Channel,
    *,
    needs_facts: bool,
) -> tuple[list[PartialProof], list[tuple[Fact, ...]]]:
    """Proofs of all that is asked, if it is that easy, and the facts that were found on the way,
    for each question. Without need for facts, what is easy is all or nothing; otherwise any part is
    of use. Programs of several questions are not the same, so that others are told facts only if
    there is one."""
    proofs: list[PartialProof] = []
    facts: list[tuple[Fact, ...]] = [() for _ in questions]
    asked = frozenset[str]().union(*(names_of(part) for part, _ in questions))
    for engine in registry.starting(Start.CHECKS):
        found, more = _checked_by(engine, questions, deadline, needs_facts=needs_facts)
        proofs += found
        facts = [(*known, *new) for known, new in zip(facts, more, strict=True)]
        if asked <= frozenset[str]().union(*(part.properties for part in proofs)):
            return proofs, facts
    if len(questions) == 1 and facts[0]:
        send(as_row(Proved(encode(facts[0]))))
    return proofs, facts


def _checked_by(
    engine: EngineDescription,
    questions: list[tuple[Specification, Program]],
    deadline: float | None,
    *,
    needs_facts: bool,
) -> tuple[list[PartialProof], list[tuple[Fact, ...]]]:
    facts: list[tuple[Fact, ...]] = [() for _ in questions]
    proofs: list[PartialProof] = []
    total: dict[str, float] = {}
    for index, (specification, program) in enumerate(questions):
        for chosen in _steps(specification, needs_facts=needs_facts):
            if not names_of(chosen) <= engine.proves:
                continue
            if chosen.memory_model.value not in engine.memory_models:
                continue
            listener = _Facts()
            question = Question(
                program,
                chosen,
                _end(deadline),
                settings=engine.settings({}),
                wants_facts=needs_facts,
            )
            outcome: Outcome = import_module(engine.module).answer(question, listener)
            if chosen is specification:
                facts[index] = listener.found
            _add_up(total, outcome)
            if outcome.answer is Answer.HOLDS:
                found = Result("true", outcome.reason, statistics=dict(total), engine=engine.name)
                proofs.append(PartialProof(names_of(chosen), engine.name, found))
                break
        else:
            if not needs_facts:
                return [], facts
    return proofs, facts


def _add_up(total: dict[str, float], outcome: Outcome) -> None:
    for name, value in outcome.statistics.numbers().items():
        # The same threads and locations twice are not more of them.
        before = total.get(name, 0)
        total[name] = max(before, value) if name in _SIZES else before + value


def _steps(specification: Specification, *, needs_facts: bool) -> list[Specification]:
    """What is tried in turn: all at once, and what no engine without bounds can prove."""
    steps = [specification]
    if needs_facts and is_divisible(specification):
        others = [checked_by(item, specification) for item in registry.starting(Start.LATER)]
        rest = specification.properties.difference(*others)
        left = only(specification, rest)
        if left is not None and left != specification:
            steps.append(left)
    return steps


def _end(deadline: float | None) -> float | None:
    now = time.monotonic()
    return None if deadline is None else now + _SHARE * max(0.0, deadline - now)
