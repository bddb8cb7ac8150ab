"""Computing an interleaving (the thesis, 5.5.4): from an abstract trace to threads and transitions.

Each move of the context gets a thread that makes it, with exact numbers of threads. If one is to
leave a location at which nobody is, the counters are too coarse. Then the moves of each thread get
transitions, from the reachability graph that its abstract thread is the quotient of.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

from plait.data import dataclass, field
from plait.engines.context.acfa.automata import Move
from plait.engines.context.acfa.reach import ContextStep, Graph, Trace
from plait.engines.context.templates import Templates


class TooCoarse(Exception):
    """There is nobody to make a move: the counters have lost that."""


class Unrelated(Exception):
    """Threads cannot make the moves of their abstract threads in this order."""


@dataclass(slots=True, eq=False)
class Participant:
    """A thread of an interleaving: `moves` are those of its abstract thread, with when they are
    made; none of the thread that the trace is of, whose transitions are known."""

    template: int
    number: int  # in the order in which they begin
    start: int = -1  # a location of its abstract thread
    location: int = -1
    moves: list[tuple[int, Move]] = field(default_factory=list)


@dataclass(slots=True, frozen=True, eq=False)
class Taken:
    """A participant takes a transition; `begun` is the participant that this starts."""

    who: Participant
    transition: int
    begun: Participant | None = None


@dataclass(slots=True, eq=False)
class Interleaving:
    """`racing` stands at a place before an access, if the trace is about a race."""

    main: Participant
    taken: list[Taken]
    racing: tuple[Participant, int] | None = None

    def participants(self) -> list[Participant]:
        """That of the trace first."""
        everybody = {self.main.number: self.main}
        for item in self.taken:
            everybody.setdefault(item.who.number, item.who)
            if item.begun is not None:
                everybody.setdefault(item.begun.number, item.begun)
        if self.racing is not None:
            everybody.setdefault(self.racing[0].number, self.racing[0])
        return list(everybody.values())


def interleaving(
    trace: Trace,
    templates: Templates,
    graphs: Sequence[Graph | None],
    classes: Sequence[list[int]],
) -> Interleaving:
    """`graphs` are those that the abstract threads of the context are the quotients of, and
    `classes` say of their locations what they have become."""
    cast = _Cast(trace)
    runs: dict[int, dict[int, list[int]]] = {}
    for who in cast.others:
        graph = graphs[who.template]
        assert graph is not None
        runs[who.number] = _concrete(graph, classes[who.template], who)
    taken: list[Taken] = []
    for time, operation in enumerate(trace.operations):
        begun = cast.begun.get(time)
        if not isinstance(operation, ContextStep):
            taken.append(Taken(cast.main, operation.transition, begun))
            continue
        for who in cast.others:
            transitions = runs[who.number].get(time, [])
            taken += (Taken(who, index) for index in transitions[:-1])
            taken += (Taken(who, index, begun) for index in transitions[-1:])
    for who in cast.others:
        taken += (Taken(who, index) for index in runs[who.number].get(_AT_THE_END, []))
    found = Interleaving(cast.main, taken)
    if cast.racing is not None:
        found.racing = cast.racing, _place_of(cast.racing, templates, taken)
    return found


_AT_THE_END = -1


class _Cast:
    """Who makes the moves of a trace, and who begins at which time."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._count = 1
        self.main = Participant(trace.template, 1)
        self.others: list[Participant] = []
        self.begun: dict[int, Participant] = {}
        if trace.start is not None:
            self._begin(trace.start)
        for time, operation in enumerate(trace.operations):
            if isinstance(operation, ContextStep):
                mover = self._at(operation.location)
                mover.moves.append((time, operation.move))
                mover.location = operation.move.target
                if operation.is_birth:
                    self._count += 1
                    self.main.number = self._count
                    self.begun[time] = self.main
            if operation.begins_at is not None:
                self._count += 1
                self.begun[time] = self._begin(operation.begins_at)
        self.racing = None if trace.racing is None else self._at(trace.racing)

    def _begin(self, at: int) -> Participant:
        template, location = self._trace.context.place(at)
        found = Participant(template, self._count, location, location)
        self.others.append(found)
        return found

    def _at(self, number: int) -> Participant:
        place = self._trace.context.place(number)
        for item in self.others:
            if (item.template, item.location) == place:
                return item
        raise TooCoarse


def _concrete(graph: Graph, class_of: list[int], who: Participant) -> dict[int, list[int]]:
    """Transitions for the moves of an abstract thread, by their times; silent ones in between are
    taken just before the next. A shortest such path through the graph."""
    moves_from = graph.thread.moves_from()
    start = [(0, number) for number in sorted(graph.thread.starts) if class_of[number] == who.start]
    before: dict[tuple[int, int], tuple[tuple[int, int], Move] | None] = dict.fromkeys(start)
    pending = deque(start)
    while pending:
        node = pending.popleft()
        done, location = node
        if done == len(who.moves) and class_of[location] == who.location:
            return _path(graph, before, node, who)
        for move in moves_from[location]:
            following = []
            if graph.thread.is_silent(move):
                following.append((done, move.target))
            if done < len(who.moves):
                wanted = who.moves[done][1]
                ends = class_of[location], class_of[move.target]
                if (wanted.source, wanted.target) == ends and wanted.effect == move.effect:
                    following.append((done + 1, move.target))
            for item in following:
                if item not in before:
                    before[item] = node, move
                    pending.append(item)
    raise Unrelated


def _path(
    graph: Graph,
    before: Mapping[tuple[int, int], tuple[tuple[int, int], Move] | None],
    node: tuple[int, int],
    who: Participant,
) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    while (step := before[node]) is not None:
        earlier, move = step
        time = who.moves[earlier[0]][0] if earlier[0] < len(who.moves) else _AT_THE_END
        found.setdefault(time, []).insert(0, min(graph.transitions[move]))
        node = earlier
    return found


def _place_of(who: Participant, templates: Templates, taken: Sequence[Taken]) -> int:
    place = 0
    for item in taken:
        if item.who is who:
            target = templates.all[who.template].one.transitions[item.transition].target
            assert target is not None
            place = target
    return place
