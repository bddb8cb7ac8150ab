"""States of the search: a location, the claims that hold there, and the threads that are asleep.

The words of the program are read forwards; a state is where a word has come, in the product of the
program, the deterministic automaton of the proof, and the reduction. All words that can follow must
come to the claim `false` before they come to a violation. A state that claims less than another
one, and has fewer threads asleep, has more words to refute, so the other one is covered by it
(antichains; De Wulf, Doyen, Henzinger, Raskin: CAV 2006).

States are explored depth first. When all that follows a state is known, so is what it *needed*: the
claims from which `false` was derived, and the sleeping threads that were really left out. From then
on it covers whatever has that much.
"""

from __future__ import annotations

from typing import NamedTuple

from plait.data import dataclass, field
from plait.engines.blocks.bitsets import as_set, numbers
from plait.engines.blocks.certificate import Row
from plait.engines.blocks.paths import Occurrence, own_step
from plait.engines.traces.proof import Proof
from plait.logic.terms import Terms
from plait.symbolic.blocks import Block, Way
from plait.symbolic.locations import Location


@dataclass(slots=True, eq=False)
class Place:
    """A location, with the next blocks of its threads and the states that were there."""

    location: Location
    can_step: list[int]
    is_inside: bool  # whether a thread is in the middle of a section
    blocks: dict[int, Block] = field(default_factory=dict)
    open: list[State] = field(default_factory=list)  # of which it is not known what they need
    closed: list[State] = field(default_factory=list)
    relevant: int = 0  # claims about variables that there are here
    seen: int = 0  # claims that were looked at for that
    noted: set[tuple[int, int]] = field(default_factory=set)  # steps of threads, by their accesses
    persistent: int | None = None  # a thread whose next step nothing that others may do disturbs


class Edge(NamedTuple):
    """`child` is None if the claims exclude the way, by these premises."""

    thread: int
    way: Way
    child: State | None
    premises: int = 0


@dataclass(slots=True, eq=False)
class State:
    number: int  # in the order of discovery
    place: Place
    claims: int
    asleep: int  # threads, a bit for each
    taken: tuple[Location, int, Way] | None = None  # from where, by which thread, how
    # Claims of the state before because of which threads are asleep here.
    sleep_premises: dict[int, int] = field(default_factory=dict)
    inherited: int = 0  # threads that were asleep before, and therefore are
    persistent: int = 0  # the only thread that is explored, ahead of all that others may do
    explored: int = 0  # threads all of whose ways were explored
    left: list[tuple[int, list[Way]]] | None = None  # what is still to be explored
    edges: list[Edge] = field(default_factory=list)
    cover: State | None = None
    low: int = 0  # the oldest state that something below here relies on
    needed: int = 0
    needed_asleep: int = 0
    is_closed: bool = False

    position: int = 0  # among all states that are open
    _occurrence: Occurrence | None = None

    @property
    def thread(self) -> int:
        """That has come here; 0 initially."""
        return 0 if self.taken is None else self.taken[1]

    @property
    def way(self) -> Way:
        assert self.taken is not None
        return self.taken[2]

    def occurrence(self, terms: Terms) -> Occurrence:
        """How the word comes here, with inputs of its own."""
        if self._occurrence is None:
            assert self.taken is not None
            location, thread, way = self.taken
            self._occurrence = Occurrence(location, thread, way, *own_step(terms, way))
        return self._occurrence


def close(component: list[State], proof: Proof) -> None:
    """Find out what states needed that rely on each other, and on nothing else that is open: the
    least sets that satisfy the conditions. They are subsets of what the states have."""
    for state in component:
        state.needed = 0
        state.needed_asleep = 0 if state.persistent else state.asleep & _movable(state)
    grows = True
    while grows:
        grows = False
        for state in reversed(component):
            needed, asleep = _needed(state, proof)
            if needed != state.needed or asleep != state.needed_asleep:
                state.needed, state.needed_asleep = needed, asleep
                grows = len(component) > 1 or _covers_itself(state)
    for state in component:
        state.is_closed = True
        place = state.place
        place.closed = [
            other
            for other in place.closed
            if state.needed & ~other.needed or state.needed_asleep & ~other.needed_asleep
        ]
        place.closed.append(state)


def _covers_itself(state: State) -> bool:
    return any(edge.child is not None and edge.child.cover is state for edge in state.edges)


def _needed(state: State, proof: Proof) -> tuple[int, int]:
    needed, asleep = state.needed, state.needed_asleep
    for edge in state.edges:
        needed |= edge.premises
        child = edge.child
        if child is None:
            continue
        behind = child if child.cover is None else child.cover
        child.needed, child.needed_asleep = behind.needed, behind.needed_asleep
        for claim in numbers(behind.needed):
            premises = proof.reason(state.claims, edge.way.step, claim)
            assert premises is not None, "a claim that is needed was derived"
            needed |= premises
        for thread in numbers(behind.needed_asleep):
            needed |= child.sleep_premises[thread]
        asleep |= behind.needed_asleep & child.inherited
    return needed, asleep


def _movable(state: State) -> int:
    return as_set(state.place.can_step)


def rows(root: State, proof: Proof) -> list[Row]:
    """A complete search as a tree of labelled locations. Where a state was covered by one that is
    no longer in the tree, what is below that one is below the state."""
    found: list[Row] = []
    index: dict[State, int] = {}
    pending: list[tuple[int | None, int, State]] = [(None, 0, root)]
    for parent, thread, item in pending:
        state = item if item.cover is None else item.cover
        cover = index.get(state)
        expanded: tuple[int, ...] = ()
        if cover is None:
            index[state] = len(found)
            expanded = tuple(numbers(_movable(state) & ~state.asleep))
            if state.persistent:
                expanded = (state.persistent,)
            pending += [
                (len(found), edge.thread, edge.child)
                for edge in state.edges
                if edge.child is not None
            ]
        label = proof.terms_of(state.needed)
        ahead = 0 if cover is not None else state.persistent
        found.append(Row(parent, thread, state.place.location, label, cover, expanded, ahead))
    return found
