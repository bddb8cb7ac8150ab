"""A path prepared for interpolation, and the part of it that cannot be taken."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from plait.data import dataclass
from plait.errors import PlaitError
from plait.logic.interpolation.conjuncts import Conjuncts
from plait.logic.interpolation.linear import Normal
from plait.logic.interpolation.path import Sequence as Labels
from plait.logic.interpolation.path import Step
from plait.logic.interpolation.queries import Queries
from plait.logic.substitute import Substitution, Vocabulary
from plait.logic.terms import Terms

Label = tuple[int, ...]

# So many steps are remembered with all that was computed of them.
_TRANSFERS = 20_000


class Failed(PlaitError):
    """A procedure cannot explain this path."""


class Transfer:
    """Formulas of the place behind a step as formulas of the place before it."""

    def __init__(
        self, terms: Terms, vocabulary: Vocabulary, normal: Normal, updates: Mapping[int, int]
    ) -> None:
        self.updates = updates
        self._vocabulary = vocabulary
        self._normal = normal
        self._substitution = Substitution(terms, updates.get)
        self._known: dict[int, int] = {}

    def __call__(self, term: int) -> int:
        found = self._known.get(term)
        if found is None:
            if self.updates.keys().isdisjoint(self._vocabulary(term)):
                found = term
            else:
                found = self._normal(self._substitution(term))
            self._known[term] = found
        return found


class Context:
    """What all procedures need for the terms of one table."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.vocabulary = Vocabulary(terms)
        self.conjuncts = Conjuncts(terms)
        self.queries = Queries(terms, self.vocabulary)
        self._transfers: dict[int, Transfer] = {}
        self._idle = self._new_transfer({})

    def transfer(self, updates: Mapping[int, int]) -> Transfer:
        """The transfer for these updates. Paths share many of their steps; a mapping that we have
        seen before, the same object, has a transfer that knows many terms already."""
        if not updates:
            return self._idle
        found = self._transfers.get(id(updates))
        if found is None:
            if len(self._transfers) > _TRANSFERS:
                self._transfers.clear()
            found = self._new_transfer(updates)
            self._transfers[id(updates)] = found  # which keeps the mapping, so its id stays its own
        return found

    def _new_transfer(self, updates: Mapping[int, int]) -> Transfer:
        return Transfer(self.terms, self.vocabulary, self.conjuncts.normal, updates)


class Path:
    """Steps with what is computed of them for all procedures: assumptions taken apart, and
    transfers that remember what they did."""

    def __init__(self, context: Context, steps: Sequence[Step]) -> None:
        self.steps = steps
        self.assumes = [context.conjuncts.of(step.assumes) for step in steps]
        self.transfers = [context.transfer(step.updates) for step in steps]

    def __len__(self) -> int:
        return len(self.steps)


@dataclass(frozen=True, slots=True)
class Slice:
    """The steps from the place `start` to the end of a path, without what is not needed.

    The remaining assumptions contradict each other, whatever the state is at `start`. Updates of
    variables that no later step of the slice reads are left out; `live[i]` are the variables that
    the steps from the i-th on read before they write them.
    """

    path: Path
    start: int
    steps: tuple[Step, ...]
    transfers: tuple[Transfer, ...]
    live: tuple[frozenset[int], ...]

    def mentioned(self, vocabulary: Vocabulary) -> list[frozenset[int]]:
        """For each place the variables that an earlier step of the slice mentions; the others may
        have any value there."""
        mentioned: frozenset[int] = frozenset()
        result = [mentioned]
        for step in self.steps:
            read = vocabulary.of((*step.assumes, *step.updates.values()))
            mentioned = mentioned.union(read, step.updates)
            result.append(mentioned)
        return result

    def padded(self, labels: Iterable[Label]) -> Labels:
        """Labels of the slice as labels of the path."""
        return ((),) * self.start + tuple(labels)


def sliced(context: Context, path: Path, start: int, kept: Mapping[int, Iterable[int]]) -> Slice:
    """The steps of a path from `start` on, with only those assumptions that are kept."""
    vocabulary = context.vocabulary
    live: frozenset[int] = frozenset()
    remaining: list[Step] = []
    places = [live]
    for index in range(len(path) - 1, start - 1, -1):
        step = path.steps[index]
        assumes = tuple(kept.get(index, ()))
        updates = {name: term for name, term in step.updates.items() if name in live}
        read = vocabulary.of(assumes) | vocabulary.of(updates.values())
        live = (live.difference(updates) | read) - step.inputs
        remaining.append(Step(assumes, updates, step.inputs & read))
        places.append(live)
    remaining.reverse()
    places.reverse()
    transfers = tuple(path.transfers[start:])
    return Slice(path, start, tuple(remaining), transfers, tuple(places))
