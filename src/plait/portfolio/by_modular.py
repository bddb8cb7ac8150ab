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
) -> tuple[Result | None, tuple[Fact, ...]]:
    """The answer to all questions, if it is that easy, and the facts that were found on the way.
    Programs of several questions are not the same, so that there are facts about only one."""
    facts: tuple[Fact, ...] = ()
    reasons: list[str] = []
    statistics: dict[str, float] = {}
    for specification, program in questions:
        now = time.monotonic()
        end = None if deadline is None else now + _SHARE * max(0.0, deadline - now)
        outcome = verify(program, specification, end, needs_facts=needs_facts)
        if len(questions) == 1:
            facts = outcome.facts
        for name, value in numbers_of_modular(outcome.statistics).items():
            # The same threads and locations twice are not more of them.
            before = statistics.get(name, 0)
            is_size = name in ("threads", "locations")
            statistics[name] = max(before, value) if is_size else before + value
        if outcome.answer is not Answer.HOLDS or _objection(outcome):
            break
        reasons.append(outcome.reason)
    else:
        reason = "; ".join(dict.fromkeys(reasons))
        return Result("true", reason, statistics=statistics, engine="modular"), ()
    if facts:
        send(as_row(Proved(encode(facts))))
    return None, facts
