"""Static checks, before everything else: what one look at each thread proves."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from plait.engines.modular.engine import verify
from plait.engines.modular.outcome import Answer, Outcome
from plait.model.facts import encode
from plait.portfolio.asked import Asked
from plait.portfolio.messages import Proved, Result
from plait.portfolio.messages import encode as as_row
from plait.portfolio.numbers import numbers_of_modular
from plait.portfolio.partial_proofs import Part, checked_by_impact, is_divisible, names_of, only
from plait.portfolio.strategy import MODULAR

if TYPE_CHECKING:
    from plait.model.facts import Fact
    from plait.model.program import Program
    from plait.model.properties import Specification
    from plait.work.child import Channel

_SHARE = 0.05  # of the time that is left


class ByModular(Asked):
    """The static checks alone."""

    def answer(self) -> Result:
        outcome = verify(self.program, self.specification, self.deadline)
        is_proved = outcome.answer is Answer.HOLDS
        objection = _objection(outcome) if is_proved else ""
        numbers = numbers_of_modular(outcome.statistics)
        verdict = "true" if is_proved and not objection else "unknown"
        return Result(verdict, objection or outcome.reason, statistics=numbers)


def _objection(outcome: Outcome) -> str:
    """Why a proof is not relied on; empty if it is. Heap objects, locals and thread-locals that
    several threads reach are where a static analysis goes wrong most easily: one name stands for
    many objects, whose lives end. Until more experience speaks for it, other engines decide."""
    sharing = outcome.sharing
    if sharing is None:
        return "it is not known what threads share"
    for item in sharing.points_to.objects:
        is_own = item.edge is None or getattr(item.edge.action, "storage", "") != "library"
        if item.is_per_instance and is_own and sharing.has_escaped(item):
            return f"a static proof is not relied on where threads share {item!r}"
    return ""


def checked(
    questions: list[tuple[Specification, Program]],
    deadline: float | None,
    send: Channel,
    *,
    needs_facts: bool,
) -> tuple[list[Part], list[tuple[Fact, ...]]]:
    """Proofs of all that is asked, if it is that easy, and the facts that were found on the way,
    for each question. Without need for facts, what is easy is all or nothing; otherwise any part is
    of use. Programs of several questions are not the same, so that others are told facts only if
    there is one."""
    facts: list[tuple[Fact, ...]] = [() for _ in questions]
    proofs: list[Part] = []
    is_all = True
    total: dict[str, float] = {}
    for index, (specification, program) in enumerate(questions):
        for chosen in _steps(specification, needs_facts=needs_facts):
            outcome = verify(program, chosen, _end(deadline), needs_facts=needs_facts)
            if chosen is specification:
                facts[index] = outcome.facts
            for name, value in numbers_of_modular(outcome.statistics).items():
                # The same threads and locations twice are not more of them.
                before = total.get(name, 0)
                is_size = name in ("threads", "locations")
                total[name] = max(before, value) if is_size else before + value
            if outcome.answer is Answer.HOLDS and not _objection(outcome):
                found = Result("true", outcome.reason, statistics=dict(total), engine=MODULAR)
                proofs.append(Part(names_of(chosen), MODULAR, found))
                is_all = is_all and chosen is specification
                break
        else:
            is_all = False
            if not needs_facts:
                return [], facts
    if len(questions) == 1 and facts[0] and not is_all:
        send(as_row(Proved(encode(facts[0]))))
    return proofs, facts


def _steps(specification: Specification, *, needs_facts: bool) -> list[Specification]:
    """What is tried in turn: all at once, and what no engine can prove but this one."""
    steps = [specification]
    if needs_facts and is_divisible(specification):
        left = only(specification, specification.properties - checked_by_impact(specification))
        if left is not None and left != specification:
            steps.append(left)
    return steps


def _end(deadline: float | None) -> float | None:
    now = time.monotonic()
    return None if deadline is None else now + _SHARE * max(0.0, deadline - now)
