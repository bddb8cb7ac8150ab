"""`ReachAndBuild` (the thesis, Algorithm 5): what one thread does beside many abstract ones.

A state is a place of the thread, a minterm of its predicates, and how many threads of the context
are where. The states of the thread alone, without the counts, are the nodes of its abstract
reachability graph; those that differ only by what the context has done are one location of it.

That a thread which stays where it is keeps the label of its location is what all threads together
are to show, by induction on the length of an execution. So the labels of the context are assumed of
a state *before* a step. Behind the thread's own step they are not, and behind a step of the context
only that of the thread that has taken it, which is proved from the view of that thread. The thesis
(5.3.4) takes all labels behind each step: then two threads may rely on each other for what a third
one, or one of them, destroys.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from heapq import heappop, heappush

from plait.data import dataclass
from plait.engines.context.acfa.automata import (
    AbstractLocation,
    AbstractThread,
    Effect,
    Move,
    Spawn,
)
from plait.engines.context.acfa.contexts import MANY, Context, Counts, covers
from plait.engines.context.acfa.predicates import UNBORN, Abstraction
from plait.engines.context.giving_up import GaveUp
from plait.engines.context.templates import Instance, SharedAccess, Templates
from plait.engines.interface import OutOfTime
from plait.symbolic.blocks import Kind

_MOST_STATES = 60_000

Node = tuple[int, int]  # a place and a minterm
State = tuple[int, int, Counts]


@dataclass(slots=True, frozen=True)
class OwnStep:
    """`begins_at` is the location of the context where the new thread is, if there is one."""

    transition: int
    begins_at: int | None = None


@dataclass(slots=True, frozen=True)
class ContextStep:
    """A thread that stands at a location of the context makes a move. `is_birth`: what it starts is
    the thread that is looked at."""

    location: int
    move: Move
    begins_at: int | None = None
    is_birth: bool = False


Operation = OwnStep | ContextStep


@dataclass(slots=True, frozen=True)
class Trace:
    """An abstract error trace. At its end the thread takes the transition `violation`, or stands at
    `place` before an access that a thread at the location `racing` of the context has a race
    with. `start` is where the initial thread begins in the context, if it is not the one."""

    template: int
    context: Context
    start: int | None
    operations: tuple[Operation, ...]
    place: int
    violation: int | None = None
    racing: int | None = None


class Reached(Exception):
    """An error is."""

    def __init__(self, trace: Trace) -> None:
        super().__init__()
        self.trace = trace


@dataclass(slots=True, eq=False)
class Graph:
    """An abstract reachability graph, as an abstract thread; by which transitions its moves come
    about, and the minterms at each place."""

    thread: AbstractThread
    transitions: dict[Move, set[int]]
    minterms: dict[int, set[int]]


class Building:
    """The reachability graph while it grows: `Connect`, `Find` and `Union` of the thesis."""

    def __init__(self) -> None:
        self._numbers: dict[Node, int] = {}
        self._parent: list[int] = []
        self._starts: set[int] = set()
        self._edges: dict[tuple[int, frozenset[int], Spawn | None, int], dict[int, set[int]]] = {}

    def find(self, node: Node) -> int:
        number = self._numbers.get(node)
        if number is None:
            number = self._numbers[node] = len(self._parent)
            self._parent.append(number)
        return self._root(number)

    def start(self, node: Node) -> None:
        self._starts.add(self.find(node))

    def union(self, one: Node, other: Node) -> None:
        self._parent[self.find(one)] = self.find(other)

    def connect(
        self,
        source: Node,
        guard: int,
        havoc: frozenset[int],
        spawn: Spawn | None,
        target: Node,
        transition: int,
    ) -> None:
        key = self.find(source), havoc, spawn, self.find(target)
        self._edges.setdefault(key, {}).setdefault(transition, set()).add(guard)

    def _root(self, number: int) -> int:
        parent = self._parent
        while parent[number] != number:
            parent[number] = parent[parent[number]]
            number = parent[number]
        return number

    def finished(self, instance: Instance, abstraction: Abstraction, *, are_racing: bool) -> Graph:
        members: dict[int, list[Node]] = {}
        for node, number in self._numbers.items():
            members.setdefault(self._root(number), []).append(node)
        index = {root: number for number, root in enumerate(members)}
        minterms_at: dict[int, set[int]] = {}
        for place, minterm in self._numbers:
            minterms_at.setdefault(place, set()).add(minterm)
        locations = []
        for nodes in members.values():
            place = nodes[0][0]
            label = frozenset(abstraction.shared(minterm) for _, minterm in nodes)
            if place == len(instance.places):
                locations.append(AbstractLocation(label, is_end=True))
                continue
            own = instance.places[place].threads[instance.number - 1]
            is_looked_at = are_racing and instance.is_open[place]
            accesses = frozenset(instance.accesses[place]) if is_looked_at else frozenset()
            locations.append(AbstractLocation(label, bool(own.depth), accesses=accesses))
        guards: dict[tuple[int, frozenset[int], Spawn | None, int], set[int]] = {}
        taken: dict[tuple[int, frozenset[int], Spawn | None, int], set[int]] = {}
        for (source, havoc, spawn, target), by_transition in self._edges.items():
            key = index[self._root(source)], havoc, spawn, index[self._root(target)]
            for transition, minterms in by_transition.items():
                guards.setdefault(key, set()).update(minterms)
                taken.setdefault(key, set()).add(transition)
        transitions = {}
        for (first, havoc, spawn, last), minterms in guards.items():
            move = Move(first, Effect(frozenset(minterms), havoc, spawn), last)
            transitions[move] = taken[first, havoc, spawn, last]
        starts = frozenset(index[self._root(number)] for number in self._starts)
        return Graph(AbstractThread(locations, list(transitions), starts), transitions, minterms_at)


class Order(Enum):
    """Which states are looked at first."""

    SHORTEST = "those with the shortest way to them: traces are short"
    COVERING = "those that cover most others: fewer states, if there is no error"


class Reachability:
    """Of one template's thread in a context."""

    def __init__(
        self,
        templates: Templates,
        template: int,
        abstraction: Abstraction,
        context: Context,
        initial: frozenset[int],
        order: Order,
        *,
        are_racing: bool,
        deadline: float | None,
    ) -> None:
        self._templates = templates
        self._template = template
        self._instance = templates.all[template].one
        self._abstraction = abstraction
        self._context = context
        self._initial = initial
        self._order = order
        self._are_racing = are_racing
        self._deadline = deadline
        self._building = Building()
        self._parents: dict[State, tuple[State | None, Operation | int | None]] = {}
        self._kept: dict[Node, list[Counts]] = {}
        self._pending: list[tuple[int, int, State]] = []
        self._from: list[list[int]] = [[] for _ in self._instance.places]
        for index, item in enumerate(self._instance.transitions):
            self._from[item.source].append(index)

    @property
    def states(self) -> int:
        return len(self._parents)

    def run(self) -> Graph:
        self._begin()
        while self._pending:
            OutOfTime.check(self._deadline)
            if len(self._parents) > _MOST_STATES:
                raise GaveUp("the context has too many states")
            *_, state = heappop(self._pending)
            place, minterm, counts = state
            if counts not in self._kept[place, minterm]:
                continue  # something that covers it has been found since
            if not self._context.allows(counts, self._abstraction.shared(minterm)):
                continue
            self._look_for_errors(state)
            for successor, operation in self._successors(state):
                self._add(successor, state, operation)
        return self._building.finished(
            self._instance, self._abstraction, are_racing=self._are_racing
        )

    def _begin(self) -> None:
        for minterm in sorted(self._initial):
            if self._template == 0:
                self._building.start((0, minterm))
                self._add((0, minterm, self._context.empty), None, None)
                continue
            for start in self._context.starts(0):
                counts = self._context.entered(self._context.empty, start)
                self._add((UNBORN, minterm, counts), None, start)

    def _add(self, state: State, before: State | None, operation: Operation | int | None) -> None:
        place, minterm, counts = state
        kept = self._kept.setdefault((place, minterm), [])
        if any(covers(other, counts) for other in kept):
            return
        kept[:] = [other for other in kept if not covers(counts, other)]
        kept.append(counts)
        self._parents[state] = before, operation
        if place != len(self._instance.places):
            covered = counts.count(MANY) if self._order is Order.COVERING else 0
            heappush(self._pending, (-covered, len(self._parents), state))

    # --- steps

    def _successors(self, state: State) -> Iterator[tuple[State, Operation]]:
        place, _, counts = state
        occupied = self._context.occupied(counts)
        locations = self._context.locations
        if not any(locations[number][1].is_atomic for number in occupied):
            if place != UNBORN:
                yield from self._own_steps(state)
        if place != UNBORN and self._is_atomic(place):
            return
        for number in occupied:
            for move in self._context.moves[number]:
                yield from self._context_steps(state, number, move)

    def _is_atomic(self, place: int) -> bool:
        return bool(self._instance.places[place].threads[self._instance.number - 1].depth)

    def _own_steps(self, state: State) -> Iterator[tuple[State, Operation]]:
        place, minterm, counts = state
        abstraction, template = self._abstraction, self._template
        for index in self._from[place]:
            item = self._instance.transitions[index]
            if item.kind is not Kind.MOVE:
                continue
            behind = abstraction.behind(template, index, minterm)
            if not behind:
                continue
            spawn = abstraction.spawn(item.begins[0]) if item.begins else None
            havoc = abstraction.written(template, index, minterm)
            target = len(self._instance.places) if item.target is None else item.target
            guard = abstraction.shared(minterm)
            for after in sorted(behind):
                self._building.connect(
                    (place, minterm), guard, havoc, spawn, (target, after), index
                )
                for begins_at, more in self._begun(counts, spawn):
                    yield (target, after, more), OwnStep(index, begins_at)

    def _context_steps(
        self, state: State, number: int, move: Move
    ) -> Iterator[tuple[State, Operation]]:
        place, minterm, counts = state
        abstraction, template = self._abstraction, self._template
        effect = move.effect
        if abstraction.shared(minterm) not in effect.guard:
            return
        source_template = self._context.locations[number][0]
        target = self._context.number(source_template, move.target)
        label = self._context.locations[target][1].label
        moved = self._context.entered(self._context.left(counts, number), target)
        for after in sorted(abstraction.havocked(template, place, minterm, effect.havoc)):
            shared = abstraction.shared(after)
            if shared not in label:
                continue
            if place != UNBORN:
                self._building.union((place, minterm), (place, after))
            spawn = effect.spawn
            if place == UNBORN and spawn is not None and spawn.template == template:
                for born in sorted(abstraction.newborn(template, spawn, shared)):
                    self._building.start((0, born))
                    yield (0, born, moved), ContextStep(number, move, is_birth=True)
                if self._templates.all[template].other is None:
                    continue
            for begins_at, more in self._begun(moved, spawn):
                yield (place, after, more), ContextStep(number, move, begins_at)

    def _begun(self, counts: Counts, spawn: Spawn | None) -> Iterator[tuple[int | None, Counts]]:
        """The context with a new thread. One of a template that does nothing as far as is assumed,
        or that there is already the only thread of, makes no difference."""
        if spawn is None or not self._context.has(spawn.template):
            yield None, counts
        elif self._context.may_begin(counts, spawn.template):
            for start in self._context.starts(spawn.template):
                yield start, self._context.entered(counts, start)

    # --- errors

    def _look_for_errors(self, state: State) -> None:
        place, minterm, counts = state
        if place == UNBORN:
            return
        occupied = self._context.occupied(counts)
        locations = self._context.locations
        if not any(locations[number][1].is_atomic for number in occupied):
            for index in self._from[place]:
                item = self._instance.transitions[index]
                if item.kind is not Kind.MOVE:
                    if self._abstraction.is_possible(self._template, index, minterm):
                        raise Reached(self._trace(state, violation=index))
        if not self._are_racing or not self._instance.is_open[place]:
            return
        for number in occupied:
            conditions = _racing(self._instance.accesses[place], locations[number][1].accesses)
            for condition in conditions:
                if self._abstraction.may_hold(self._template, place, minterm, condition):
                    raise Reached(self._trace(state, racing=number))

    def _trace(
        self, state: State, violation: int | None = None, racing: int | None = None
    ) -> Trace:
        operations: list[Operation] = []
        place = state[0]
        at: State = state
        while True:
            before, operation = self._parents[at]
            if before is None:
                assert operation is None or isinstance(operation, int)
                start = operation
                break
            assert isinstance(operation, (OwnStep, ContextStep))
            operations.append(operation)
            at = before
        return Trace(
            self._template,
            self._context,
            start,
            tuple(reversed(operations)),
            place,
            violation,
            racing,
        )


def _racing(
    mine: tuple[SharedAccess, ...], theirs: frozenset[SharedAccess]
) -> set[tuple[int, ...]]:
    """The conditions under which accesses are to the same bytes, as far as they are about the
    thread itself."""
    return {
        () if one.when is None else (one.when,)
        for one in mine
        for other in theirs
        if one.races_with(other)
    }
