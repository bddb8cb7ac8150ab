"""Which part of a path makes it infeasible: the latest assumptions that suffice.

Reasons near the end are better than reasons near the beginning: in the tenth round of a loop that
counts to ten, the last test gives `i <= 10`; what happened in the seventh would give `i == 7`.
So we look for the last place from which no state gets to the end, and drop early assumptions first.
"""

from __future__ import annotations

from collections.abc import Collection

from plait.logic.interpolation.model import Model
from plait.logic.interpolation.problem import Context, Path, Slice, sliced

# A condition at one place, with the assumption that it stems from: step and term there.
Origin = tuple[int, int]
Conditions = dict[int, Origin]

# How often the place right behind the last contradiction known is asked about before we halve.
_NEXT_PLACES = 3


def slice_or_model(context: Context, path: Path) -> Slice | Model:
    """What makes the path infeasible, or how to take it."""
    search = _Search(context, path)
    found = search.some_contradiction()
    if isinstance(found, Model):
        return found
    place, core = search.last_contradiction(*found)
    kept: dict[int, list[int]] = {}
    for index, assumption in search.minimised(place, core):
        kept.setdefault(index, []).append(assumption)
    return sliced(context, path, place, kept)


def model_of(context: Context, path: Path) -> Model | None:
    """How to take the path; None if it is infeasible."""
    found = _Search(context, path).some_contradiction()
    return found if isinstance(found, Model) else None


class _Search:
    """Weakest preconditions from the end of a path towards its beginning.

    Whether the conditions of a place contradict each other is monotone: if they do, so do those of
    all places before. A core is a set of assumptions, given by their origins.
    """

    def __init__(self, context: Context, path: Path) -> None:
        self._context = context
        self._path = path
        # What must hold at a place for the rest of the path to be possible; equal conditions
        # count as the latest one's. The latest are first.
        self._conditions: dict[int, Conditions] = {len(path): {}}

    def some_contradiction(self) -> tuple[int, list[Origin]] | Model:
        """Walk back until a contradiction is obvious; at the first place ask the solver."""
        queries, false = self._context.queries, self._context.terms.false
        length = len(self._path)
        pause = 4
        for place in range(length - 1, -1, -1):
            conditions = self._extend(place)
            if false in conditions:
                return place, [conditions[false]]
            if length - place == pause:
                pause *= 2
                quick = queries.quick_core(list(conditions))
                if quick is not None:
                    return place, [conditions[term] for term in quick]
        conditions = self._conditions[0]
        found = queries.answer(list(conditions))
        if isinstance(found, Model):
            return found
        return 0, [conditions[term] for term in found]

    def last_contradiction(self, place: int, core: list[Origin]) -> tuple[int, list[Origin]]:
        """The last place whose conditions contradict each other, and a core there. Only conditions
        that have to do with the core, by variables they share, are looked at."""
        beyond = len(self._path)  # a place without a contradiction
        asked = 0
        place, core = self._last_of_core(place, beyond, core)
        while beyond - place > 1:
            asked += 1
            candidate = place + 1 if asked <= _NEXT_PLACES else (place + beyond) // 2
            found = self._core(candidate, self._related(candidate, core))
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
            chosen = set(core)
            conditions = self._conditions[middle]
            found = self._core(
                middle, [term for term, origin in conditions.items() if origin in chosen]
            )
            if found is None:
                beyond = middle
            else:
                place, core = middle, found
        return place, core

    def minimised(self, place: int, core: list[Origin]) -> list[Origin]:
        """A part of the core none of which can be left out; early assumptions go first."""
        terms = {origin: term for term, origin in self._conditions[place].items()}
        early_first = sorted(core)
        # Without the only condition of the place itself there is no contradiction.
        tried = int(len(core) > 1 and early_first[0][0] == place < early_first[1][0])
        while tried < len(early_first) and len(early_first) > 1:
            rest = early_first[:tried] + early_first[tried + 1 :]
            smaller = self._core(place, [terms[origin] for origin in reversed(rest)])
            if smaller is None:
                tried += 1
            else:
                needed = set(smaller)
                early_first = [origin for origin in rest if origin in needed]
        return early_first

    def _core(self, place: int, chosen: list[int]) -> list[Origin] | None:
        found = self._context.queries.core(chosen)
        if found is None:
            return None
        conditions = self._conditions[place]
        return [conditions[term] for term in found]

    def _related(self, place: int, core: Collection[Origin]) -> list[int]:
        """The conditions of a place that are connected to those of the core."""
        vocabulary = self._context.vocabulary
        conditions = self._conditions[place]
        chosen = set(core)
        related = {term for term, origin in conditions.items() if origin in chosen}
        variables = set(vocabulary.of(related))
        grown = True
        while grown:
            grown = False
            for term in conditions:
                if term not in related and not variables.isdisjoint(vocabulary(term)):
                    related.add(term)
                    variables |= vocabulary(term)
                    grown = True
        return [term for term in conditions if term in related]

    def _extend(self, place: int) -> Conditions:
        transfer, true = self._path.transfers[place], self._context.terms.true
        conditions: Conditions = {}
        for term, origin in self._conditions[place + 1].items():
            before = transfer(term)
            if before != true:
                conditions.setdefault(before, origin)
        for assumption in self._path.assumes[place]:
            conditions.setdefault(assumption, (place, assumption))
        self._conditions[place] = conditions
        return conditions
