"""Facts of other engines about variables, as explanations why a path is impossible.

They become parts of labels only where they are proved, step by step, so that nothing depends on
them. Ranges were proved with more than they say (one thread at a time, with the values of its
registers) and often do not follow here; when they mostly fail to explain paths, they are not tried
any more.
"""

from __future__ import annotations

from collections.abc import Iterable

from plait.engines.blocks.hints import cell_variable
from plait.engines.blocks.ranges import in_range
from plait.logic.terms import Terms
from plait.model.facts import Fact, Range
from plait.symbolic.knowledge import Knowledge
from plait.symbolic.locations import Location

_TRIALS = 6
_MOST = 32


class Candidates:
    def __init__(self, knowledge: Knowledge, terms: Terms) -> None:
        self._knowledge = knowledge
        self._terms = terms
        self._objects = {
            item.name: item for item in knowledge.program.objects if not item.thread_local
        }
        self._ranges: dict[Range, None] = {}
        self._tried = 0
        self._succeeded = 0

    def learn(self, facts: Iterable[Fact]) -> None:
        for fact in facts:
            if isinstance(fact, Range) and len(self._ranges) < _MOST:
                self._ranges[fact] = None

    @property
    def are_worth_it(self) -> bool:
        is_young = self._tried < _TRIALS
        return bool(self._ranges) and (is_young or 4 * self._succeeded >= self._tried)

    def were_tried(self, *, with_success: bool) -> None:
        self._tried += 1
        self._succeeded += with_success

    def at(self, location: Location) -> list[int]:
        """Claims about cells that have a variable at this location."""
        claims = (self._claim(fact, location) for fact in self._ranges)
        return [claim for claim in claims if claim is not None and claim != self._terms.true]

    def _claim(self, fact: Range, location: Location) -> int | None:
        item = self._objects.get(fact.object)
        if item is None:
            return None
        part = fact.offset, fact.size
        variable = cell_variable(self._knowledge, self._terms, item, part, location)
        if variable is None:
            return None
        return in_range(self._terms, fact, variable)
