"""Abstract threads (the thesis, 5.3.2): what a thread may do to what is shared, as an automaton.

A location is labelled with a region: which of the predicates about shared variables hold there,
whatever the other threads do. A move havocs variables, and leads to the label of its target. What
plait executes as one block is one move here, where the thesis has atomic locations in between; so
a move also has a guard, which is the label of that location: from where it is possible.

Regions are sets of minterms: each minterm says of every predicate whether it holds, as a bit.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from plait.data import dataclass, field, replace
from plait.engines.context.templates import SharedAccess

Region = frozenset[int]


@dataclass(slots=True, frozen=True)
class Spawn:
    """That a move starts a thread: of which template, and the constants that its variables get."""

    template: int
    constants: tuple[tuple[int, int], ...]


@dataclass(slots=True, frozen=True)
class Effect:
    """What others may notice of a move."""

    guard: Region
    havoc: frozenset[int]  # variables
    spawn: Spawn | None


@dataclass(slots=True, frozen=True)
class Move:
    source: int
    effect: Effect
    target: int


@dataclass(slots=True, frozen=True)
class AbstractLocation:
    """`is_atomic`: a thread that is there lets no other take a step. `is_end`: it has ended, and
    the label says what held just then, not what others keep. `accesses` are what a race may be
    about."""

    label: Region
    is_atomic: bool = False
    is_end: bool = False
    accesses: frozenset[SharedAccess] = frozenset()


@dataclass(slots=True, eq=False)
class AbstractThread:
    """`starts` are the locations where such a thread may begin; without any it does nothing."""

    locations: list[AbstractLocation] = field(default_factory=list)
    moves: list[Move] = field(default_factory=list)
    starts: frozenset[int] = frozenset()

    def moves_from(self) -> list[list[Move]]:
        found: list[list[Move]] = [[] for _ in self.locations]
        for move in self.moves:
            found[move.source].append(move)
        return found

    def is_silent(self, move: Move) -> bool:
        """Whether nobody can tell that the move was made, but by what the thread does later."""
        effect = move.effect
        return (
            not effect.havoc
            and effect.spawn is None
            and self.locations[move.source].label <= effect.guard
            and not self.locations[move.target].is_end
        )


def collapse(graph: AbstractThread) -> tuple[AbstractThread, list[int]]:
    """The weak bisimulation quotient, and the location that each one of the graph becomes.

    Any partition would be sound: each move is kept between the classes of its ends, and the label
    of a class has those of its members. Bisimulation makes it precise.
    """
    class_of = _coarsest(graph)
    count = max(class_of, default=-1) + 1
    locations: list[AbstractLocation | None] = [None] * count
    for number, item in zip(class_of, graph.locations, strict=True):
        known = locations[number]
        label = item.label if known is None else item.label | known.label
        locations[number] = replace(item, label=label)
    moves = {
        Move(class_of[move.source], move.effect, class_of[move.target]): None
        for move in graph.moves
        if class_of[move.source] != class_of[move.target]
        or move.effect.havoc
        or move.effect.spawn is not None
    }
    starts = frozenset(class_of[item] for item in graph.starts)
    found = AbstractThread([item for item in locations if item is not None], list(moves), starts)
    return found, class_of


def _coarsest(graph: AbstractThread) -> list[int]:
    """The classes of locations that do the same, silent moves aside."""
    behind = _behind_silent_moves(graph)
    moves_from = graph.moves_from()
    class_of = _numbered(graph.locations)
    while True:
        seen = []
        for number in range(len(graph.locations)):
            done: set[Hashable] = {class_of[item] for item in behind[number]}
            for item in behind[number]:
                for move in moves_from[item]:
                    if not graph.is_silent(move):
                        done |= {(move.effect, class_of[last]) for last in behind[move.target]}
            seen.append((class_of[number], frozenset(done)))
        finer = _numbered(seen)
        if max(finer, default=0) == max(class_of, default=0):
            return class_of
        class_of = finer


def _behind_silent_moves(graph: AbstractThread) -> list[set[int]]:
    moves_from = graph.moves_from()
    found = []
    for number in range(len(graph.locations)):
        reached, pending = {number}, [number]
        while pending:
            for move in moves_from[pending.pop()]:
                if move.target not in reached and graph.is_silent(move):
                    reached.add(move.target)
                    pending.append(move.target)
        found.append(reached)
    return found


def _numbered(items: Iterable[Hashable]) -> list[int]:
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(item, len(numbers)) for item in items]


def simulates(context: AbstractThread, graph: AbstractThread) -> bool:
    """Whether an abstract thread can do all that a reachability graph says (5.3.2, `CheckSim`)."""
    theirs, ours = graph.moves_from(), context.moves_from()
    related = {
        (one, other)
        for one, location in enumerate(graph.locations)
        for other, weaker in enumerate(context.locations)
        if _is_inside(location, weaker)
    }

    def is_matched(move: Move, other: int) -> bool:
        """A move that changes nothing may also be matched by staying."""
        if move.effect.spawn is None and not move.effect.havoc and (move.target, other) in related:
            return True
        return any(
            move.effect.guard <= answer.effect.guard
            and move.effect.havoc <= answer.effect.havoc
            and move.effect.spawn == answer.effect.spawn
            and (move.target, answer.target) in related
            for answer in ours[other]
        )

    changed = True
    while changed:
        lost = {
            (one, other)
            for one, other in related
            if not all(is_matched(move, other) for move in theirs[one])
        }
        related -= lost
        changed = bool(lost)
    return all(any((one, other) in related for other in context.starts) for one in graph.starts)


def _is_inside(location: AbstractLocation, weaker: AbstractLocation) -> bool:
    return (
        location.label <= weaker.label
        and location.is_atomic == weaker.is_atomic
        and location.is_end == weaker.is_end
        and location.accesses <= weaker.accesses
    )
