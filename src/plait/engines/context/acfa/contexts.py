"""Counter abstraction (the thesis, 5.3.3): how many threads of the context are at each location.

A number up to k is exact, and behind that there are MANY: any number, also none, for nobody counts
how many leave (`MANY - 1` is MANY). So the label of a location says something of a state only where
the number there is exact and not 0. The thesis takes all labels of locations with a number that is
not 0 (5.3.4), which loses executions: those in which all of many have left.

Of a template that has one thread, and of atomic locations, 0 and 1 are always exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from plait.engines.context.acfa.automata import AbstractLocation, AbstractThread, Move
from plait.engines.context.templates import Template

MANY = 1 << 30
Counts = tuple[int, ...]  # by the numbers of locations in a context


class Context:
    """The abstract threads that run beside a thread of the template `main`."""

    def __init__(
        self,
        abstract_threads: Sequence[AbstractThread],
        templates: Sequence[Template],
        main: int,
        most: int,
    ) -> None:
        self.abstract_threads = abstract_threads
        self.locations: list[tuple[int, AbstractLocation]] = []  # with their templates
        self.moves: list[list[Move]] = []
        self._number: dict[tuple[int, int], int] = {}
        self._places: list[tuple[int, int]] = []
        self._most: list[int] = []  # what is counted exactly
        for template, item in enumerate(abstract_threads):
            if template == main and templates[template].other is None:
                continue  # there is no other one
            moves_from = item.moves_from()
            for place, location in enumerate(item.locations):
                self._number[template, place] = len(self.locations)
                self._places.append((template, place))
                self.locations.append((template, location))
                self.moves.append(moves_from[place])
                is_single = templates[template].other is None or location.is_atomic
                self._most.append(max(most, 1) if is_single else most)
        self._is_single = [item.other is None for item in templates]

    @property
    def empty(self) -> Counts:
        return (0,) * len(self.locations)

    def number(self, template: int, location: int) -> int:
        return self._number[template, location]

    def place(self, number: int) -> tuple[int, int]:
        """The template of a location, and which one of its abstract thread it is."""
        return self._places[number]

    def has(self, template: int) -> bool:
        """Whether a thread of the template can be in the context."""
        return any(item[0] == template for item in self._number)

    def starts(self, template: int) -> Iterator[int]:
        for location in sorted(self.abstract_threads[template].starts):
            yield self._number[template, location]

    def entered(self, counts: Counts, location: int) -> Counts:
        if self.locations[location][1].is_end:
            return counts
        found = list(counts)
        more = found[location] + 1
        found[location] = more if more <= self._most[location] else MANY
        return tuple(found)

    def left(self, counts: Counts, location: int) -> Counts:
        if counts[location] == MANY:
            return counts
        found = list(counts)
        found[location] -= 1
        return tuple(found)

    def may_begin(self, counts: Counts, template: int) -> bool:
        """Whether one more thread of a template may be started: of some there is only one."""
        return not self._is_single[template] or not any(
            count and self.locations[number][0] == template for number, count in enumerate(counts)
        )

    def occupied(self, counts: Counts) -> list[int]:
        """Where threads may be, or, if one is at an atomic location, only that."""
        found = [number for number, count in enumerate(counts) if count]
        atomic = [number for number in found if self.locations[number][1].is_atomic]
        return atomic or found

    def allows(self, counts: Counts, shared: int) -> bool:
        """Whether the labels of all locations at which there surely is a thread hold."""
        return all(
            shared in self.locations[number][1].label
            for number, count in enumerate(counts)
            if 0 < count < MANY
        )


def covers(more: Counts, counts: Counts) -> bool:
    """Whether whatever is possible with some counts is possible with others."""
    return all(other in (MANY, count) for count, other in zip(counts, more, strict=True))
