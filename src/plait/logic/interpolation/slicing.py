"""Which part of a path makes it infeasible: the latest assumptions that suffice.

Reasons near the end are better than reasons near the beginning: in the tenth round of a loop that
counts to ten, the last test gives `i <= 10`; what happened in the seventh would give `i == 7`.
So we look for the last place from which no state gets to the end, and drop early assumptions first.
From that place on we go no further than needed: where the path stops being feasible its labels
become false, and nothing behind has to be looked at ever again.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum

from plait.data import dataclass
from plait.logic.interpolation.model import Model
from plait.logic.interpolation.problem import Context, Path, Slice, sliced

# An assumption: its step, and the term there.
Origin = tuple[int, int]

# How often the place right behind the last contradiction known is asked about before we halve.
_NEXT_PLACES = 3


class Blame(Enum):
    """Which part of a path is to blame if several are infeasible on their own."""

    LATE = "late"  # the one that begins last: good labels for loops
    EARLY = "early"  # the one that ends first: most of the tree is cut off


def slice_or_model(context: Context, path: Path, blame: Blame = Blame.LATE) -> Slice | Model:
    """What makes the path infeasible, or how to take it."""
    search = _Search(context, path)
    found = search.some_contradiction()
    if isinstance(found, Model):
        return found
    if blame is Blame.EARLY:
        found = search.first_end_of_all(*found)
    place, core = search.first_end(*search.last_contradiction(*found))
    kept: dict[int, list[int]] = {}
    for index, assumption in search.minimised(place, core):
        kept.setdefault(index, []).append(assumption)
    return sliced(context, path, place, kept)


@dataclass(slots=True)
class _Condition:
    """What must hold at a place for the rest of the path to be possible, with the first and the
    last assumption that says so."""

    first: Origin
    last: Origin


class _Search:
    """Weakest preconditions from the end of a path towards its beginning.

    Whether the conditions of a place contradict each other is monotone: if they do, so do those of
    all places before. A core is a set of assumptions that do.
    """

    def __init__(self, context: Context, path: Path) -> None:
        self._context = context
        self._path = path
        self._end = len(path)  # steps from here on are not looked at
        # For each place its conditions, those of late assumptions first.
        self._conditions: dict[int, dict[int, _Condition]] = {len(path): {}}

    def some_contradiction(self) -> tuple[int, list[Origin]] | Model:
        """Walk back until a contradiction is obvious; at the first place ask the solver."""
        queries, false = self._context.queries, self._context.terms.false
        length = len(self._path)
        pause = 4
        for place in range(length - 1, -1, -1):
            conditions = self._extend(place)
            if false in conditions:
                return place, [conditions[false].last]
            if length - place == pause:
                pause *= 2
                quick = queries.quick_core(list(conditions))
                if quick is not None:
                    return place, [conditions[term].last for term in quick]
        conditions = self._conditions[0]
        found = queries.answer(list(conditions))
        if isinstance(found, Model):
            return found
        return 0, [conditions[term].last for term in found]

    def last_contradiction(self, place: int, core: list[Origin]) -> tuple[int, list[Origin]]:
        """The last place whose conditions contradict each other, and a core there. Only conditions
        that have to do with the core, by variables they share, are looked at."""
        beyond = self._end  # a place without a contradiction
        asked = 0
        place, core = self._last_of_core(place, beyond, core)
        while beyond - place > 1:
            asked += 1
            candidate = place + 1 if asked <= _NEXT_PLACES else (place + beyond) // 2
            found = self._late_core(candidate, self._related(candidate, core))
            if found is None:
                beyond = candidate
            else:
                place, core = self._last_of_core(candidate, beyond, found)
        return place, core

    def _last_of_core(
        self, place: int, beyond: int, core: list[Origin]
    ) -> tuple[int, list[Origin]]:
        """The last place where the assumptions of the core contradict each other."""
        while beyond - place > 1:
            middle = (place + beyond) // 2
            found = self._late_core(middle, self._terms_of(middle, core))
            if found is None:
                beyond = middle
            else:
                place, core = middle, found
        return place, core

    def first_end_of_all(self, place: int, core: list[Origin]) -> tuple[int, list[Origin]]:
        """Of all contradictions the one whose last assumption is the earliest, at the first place
        of the path. What lies behind is not looked at any more."""
        for earlier in range(place - 1, -1, -1):
            self._extend(earlier)
        found = self._early_core(0, list(self._conditions[0]))
        assert found is not None, "a contradiction stays one if it is moved to an earlier place"
        return self._ended(0, found, list(self._conditions[0]))

    def first_end(self, place: int, core: list[Origin]) -> tuple[int, list[Origin]]:
        """Of the contradictions at a place that have to do with the core the one whose last
        assumption is the earliest."""
        return self._ended(place, core, self._related(place, core))

    def _ended(
        self, place: int, core: list[Origin], candidates: list[int]
    ) -> tuple[int, list[Origin]]:
        conditions = self._conditions[place]
        while True:
            last, _ = max(core)
            self._end = last + 1
            candidates = [term for term in candidates if conditions[term].first[0] < last]
            found = self._early_core(place, candidates)
            if found is None:
                return place, core
            core = found

    def minimised(self, place: int, core: list[Origin]) -> list[Origin]:
        """A part of the core none of which can be left out; early assumptions go first."""
        terms: dict[Origin, int] = {}
        for term, condition in self._conditions[place].items():
            terms[condition.first] = terms[condition.last] = term
        early_first = sorted(core)
        # Without the only condition of the place itself there is no contradiction.
        tried = int(len(core) > 1 and early_first[0][0] == place < early_first[1][0])
        while tried < len(early_first) and len(early_first) > 1:
            rest = early_first[:tried] + early_first[tried + 1 :]
            smaller = self._context.queries.core([terms[origin] for origin in reversed(rest)])
            if smaller is None:
                tried += 1
            else:
                needed = set(smaller)
                early_first = [origin for origin in rest if terms[origin] in needed]
        return early_first

    def _late_core(self, place: int, chosen: list[int]) -> list[Origin] | None:
        """Which of the terms contradict each other, as the latest assumptions they stem from."""
        found = self._context.queries.core(chosen)
        if found is None:
            return None
        conditions = (self._conditions[place][term] for term in found)
        return [one.last if one.last[0] < self._end else one.first for one in conditions]

    def _early_core(self, place: int, chosen: list[int]) -> list[Origin] | None:
        """Which of the terms contradict each other, as the earliest assumptions they stem from."""
        conditions = self._conditions[place]
        found = self._context.queries.core(sorted(chosen, key=lambda term: conditions[term].first))
        return None if found is None else [conditions[term].first for term in found]

    def _terms_of(self, place: int, core: Collection[Origin]) -> list[int]:
        chosen = set(core)
        return [
            term
            for term, condition in self._conditions[place].items()
            if condition.first in chosen or condition.last in chosen
        ]

    def _related(self, place: int, core: Collection[Origin]) -> list[int]:
        """The conditions of a place that are connected to those of the core."""
        vocabulary = self._context.vocabulary
        conditions = self._conditions[place]
        related = set(self._terms_of(place, core))
        variables = set(vocabulary.of(related))
        others = [
            term
            for term, condition in conditions.items()
            if term not in related and condition.first[0] < self._end
        ]
        grown = True
        while grown:
            rest: list[int] = []
            for term in others:
                if variables.isdisjoint(vocabulary(term)):
                    rest.append(term)
                else:
                    related.add(term)
                    variables |= vocabulary(term)
            grown = len(rest) < len(others)
            others = rest
        return [term for term in conditions if term in related]

    def _extend(self, place: int) -> dict[int, _Condition]:
        transfer, true = self._path.transfers[place], self._context.terms.true
        conditions: dict[int, _Condition] = {}
        for term, condition in self._conditions[place + 1].items():
            before = transfer(term)
            if before == true:
                continue
            known = conditions.get(before)
            if known is None:
                conditions[before] = _Condition(condition.first, condition.last)
            else:
                known.first = min(known.first, condition.first)
                known.last = max(known.last, condition.last)
        for assumption in self._path.assumes[place]:
            origin = (place, assumption)
            known = conditions.get(assumption)
            if known is None:
                conditions[assumption] = _Condition(origin, origin)
            else:
                known.first = origin
        self._conditions[place] = conditions
        return conditions
