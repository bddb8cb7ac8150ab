"""Formulas of a run's paths: CSSA with pi-functions, orders of events, and what goes wrong
(sections 4.2, 5.3 and 5.4 of the Fusion paper).

A thread may stop anywhere: an execution that fails need not go on, and others may be blocked for
ever then. So each event has a literal that says that its thread has come there (`came`), and it is
made where its thread's path leads to it as well (`made`). The order of two events of different
threads is one literal; that orders are transitive is said by clauses.

There are two formulas, and they are of different types because they say different things:

- `TraceProgram`: executions that take no other branch than the run has. A solution is an execution
  of the program (Theorem 2); no solution says nothing about the program.
- `TraceAbstraction`: phantom edges stand for the branches that were not taken. It has all
  executions of the program and more (Observation 1). That no solution begins with some steps says
  that nothing goes wrong in any execution that begins with them (Theorem 3); a solution says
  nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from plait.data import dataclass
from plait.hunt.fusion.paths import Branch, Cell, CellRead, CellWrite, PathEvent, Paths
from plait.logic.solver import Solver


@dataclass(slots=True, frozen=True)
class Violation:
    """Steps of the run in an order in which a thread fails right after the last one."""

    text: str
    thread: int
    steps: tuple[int, ...]


class TraceProgram:
    """The concurrent trace program of a run: an under-approximation. `violated` are the properties
    that a violation may be of."""

    def __init__(self, paths: Paths, violated: frozenset[str]) -> None:
        self._formula = _Formula(paths, violated, has_phantoms=False)

    def violation(self, deadline: float) -> Violation | None:
        """An execution that fails, if the solver finds one in time."""
        formula = self._formula
        if formula.solver.solve([formula.something_fails], deadline=deadline) is not True:
            return None
        return formula.violation()


class TraceAbstraction:
    """The concurrent trace abstraction of a run: an over-approximation."""

    def __init__(self, paths: Paths) -> None:
        self._formula = _Formula(paths, frozenset(), has_phantoms=True)

    def is_safe(self, steps: Sequence[int], deadline: float) -> bool:
        """Whether nothing goes wrong in any execution that begins with these steps of the run, in
        this order. Where the solver does not say so in time, the answer is no."""
        formula = self._formula
        assumed = [formula.something_fails, *formula.beginning(steps)]
        return formula.solver.solve(assumed, deadline=deadline) is False


def clauses_needed(paths: Paths) -> int:
    """About how many clauses the formula of an abstraction has."""
    counts = [len(path.events) for path in paths.threads.values()]
    total, pairs, triples = sum(counts), 0, 0
    for index, one in enumerate(counts):
        for place, two in enumerate(counts[index + 1 :], index + 1):
            pairs += one * two
            triples += one * two * sum(counts[place + 1 :])
    writes: dict[Cell, int] = {}
    events = [event for path in paths.threads.values() for event in path.events]
    for event in events:
        for write in event.writes:
            writes[write.cell] = writes.get(write.cell, 0) + 1
    branches = sum(len(path.branches) for path in paths.threads.values())
    reads = 0
    for event in events:
        for read in event.reads:
            written = writes.get(read.cell, 0) + 1
            reads += written * (written + branches)
    return total + 2 * pairs + 2 * triples + reads


class _Formula:
    def __init__(self, paths: Paths, violated: frozenset[str], *, has_phantoms: bool) -> None:
        self.solver = Solver(paths.terms)
        self._paths = paths
        self._terms = paths.terms
        self._has_phantoms = has_phantoms
        self._events: list[PathEvent] = []
        self._number: dict[tuple[int, int], int] = {}  # thread, place in it
        self._place: list[int] = []
        for thread, path in paths.threads.items():
            for place, event in enumerate(path.events):
                self._number[thread, place] = len(self._events)
                self._place.append(place)
                self._events.append(event)
        self._of_step = {event.step: number for number, event in enumerate(self._events)}
        self._came = [self.solver.new_literal() for _ in self._events]
        self._true = self.solver.literal_of(self._terms.true)
        self._before: dict[tuple[int, int], int] = {}
        self._made: dict[tuple[int, int], int] = {}
        self._writes: dict[Cell, list[tuple[int, CellWrite]]] = {}
        for number, event in enumerate(self._events):
            for write in event.writes:
                self._writes.setdefault(write.cell, []).append((number, write))
        self._phantoms: list[tuple[Branch, int]] = []
        self._failing: list[tuple[int, str, int, int]] = []  # literal, text, thread, after
        self._order_threads()
        self._order_events()
        for number, event in enumerate(self._events):
            self._make(number, event)
        self._follow_branches()
        for number, event in enumerate(self._events):
            for read in event.reads:
                self._find_write(number, read)
        self._fail(violated)

    # --- literals

    def _add(self, clause: list[int]) -> None:
        """Add a clause, unless it is known to hold."""
        if self._true not in clause:
            self.solver.add_clause([literal for literal in clause if literal != -self._true])

    def _literal(self, term: int) -> int:
        return self.solver.literal_of(term)

    def _both(self, one: int, term: int) -> int:
        """A literal that is true where another one and a term are."""
        if term == self._terms.true:
            return one
        known = self._made.get((one, term))
        if known is None:
            known = self._made[one, term] = self.solver.new_literal()
            other = self._literal(term)
            self._add([-known, one])
            self._add([-known, other])
            self._add([known, -one, -other])
        return known

    def _is_made(self, number: int, guard: int) -> int:
        return self._both(self._came[number], guard)

    def _is_before(self, one: int, other: int) -> int:
        """A literal that says that an event comes before another one."""
        first, second = self._events[one], self._events[other]
        if first.thread == second.thread:
            return self._true if self._place[one] < self._place[other] else -self._true
        if one > other:
            return -self._is_before(other, one)
        known = self._before.get((one, other))
        if known is None:
            known = self._before[one, other] = self.solver.new_literal()
        return known

    # --- orders

    def _order_threads(self) -> None:
        for (_, place), number in self._number.items():
            if place > 0:
                self._add([-self._came[number], self._came[number - 1]])
        for number, event in enumerate(self._events):
            first = self._number.get((event.spawned, 0)) if event.spawned else None
            if first is not None:
                self._add([self._is_before(number, first)])
                self._add([-self._came[first], self._is_made(number, event.guard)])
            if event.ends_process:
                for other in range(len(self._events)):
                    if self._events[other].thread != event.thread:
                        ended = [-self._is_made(number, event.guard), -self._came[other]]
                        self._add([*ended, self._is_before(other, number)])

    def _order_events(self) -> None:
        """Orders are transitive. For events of one thread it is enough to speak of neighbours."""
        add, before = self._add, self._is_before
        threads = list(self._paths.threads)
        numbers = {
            thread: [
                self._number[thread, place]
                for place in range(len(self._paths.threads[thread].events))
            ]
            for thread in threads
        }
        for thread in threads:
            mine = numbers[thread]
            for a, b in zip(mine, mine[1:], strict=False):
                for other in threads:
                    if other == thread:
                        continue
                    for c in numbers[other]:
                        add([-before(b, c), before(a, c)])
        for index, one in enumerate(threads):
            for place, two in enumerate(threads[index + 1 :], index + 1):
                for three in threads[place + 1 :]:
                    for a in numbers[one]:
                        for b in numbers[two]:
                            for c in numbers[three]:
                                ab, bc, ca = before(a, b), before(b, c), before(c, a)
                                add([-ab, -bc, -ca])
                                add([ab, bc, ca])

    # --- events

    def _make(self, number: int, event: PathEvent) -> None:
        for wait in event.waits:
            self._add([-self._is_made(number, event.guard), self._literal(wait)])

    def _position(self, thread: int, after: int) -> int:
        """A literal that says that a thread has made its first so many events."""
        return self._true if after == 0 else self._came[self._number[thread, after - 1]]

    def _follow_branches(self) -> None:
        """Without phantom edges a thread goes on only as in the run; with them there is an edge for
        the other way of each branch."""
        for thread, path in self._paths.threads.items():
            for branch in path.branches:
                position = self._position(thread, branch.after)
                if self._has_phantoms:
                    taken = self._both(position, branch.guard)
                    other = self._both(taken, self._terms.not_(branch.condition))
                    self._phantoms.append((branch, other))
                    continue
                condition = self._literal(branch.condition)
                following = self._number.get((thread, branch.after))
                if following is not None:
                    self._add([-self._came[following], condition])
                if branch.inside:
                    self._add([-position, condition])

    # --- pi-functions (rule 3)

    def _find_write(self, number: int, read: CellRead) -> None:
        add = self._add
        writes = self._candidates(number, read)
        phantoms = [
            (branch, taken)
            for branch, taken in self._phantoms
            if self._may_reach(branch, number, read)
        ]
        ways: list[int] = []
        initial = self._paths.initial[read.cell]
        if not any(self._hides(number, read, other, write) for other, write in writes):
            way = self.solver.new_literal()
            ways.append(way)
            self._take(way, read.symbol, initial)
            for other, write in writes:
                late = self._is_before(number, other)
                add([-way, -self._is_made(other, write.guard), late])
        for at, (other, write) in enumerate(writes):
            way = self.solver.new_literal()
            ways.append(way)
            add([-way, self._is_made(other, write.guard)])
            add([-way, self._is_before(other, number)])
            self._take(way, read.symbol, write.value)
            for place, (third, another) in enumerate(writes):
                if place != at:
                    made = self._is_made(third, another.guard)
                    early, late = self._is_before(third, other), self._is_before(number, third)
                    add([-way, -made, early, late])
        for branch, taken in phantoms:
            way = self.solver.new_literal()
            ways.append(way)
            add([-way, taken])
            self._comes_after(way, branch, number)
            for other, write in writes:
                self._is_not_between(way, branch, other, write, number)
        add([-self._is_made(number, read.guard), *ways])

    def _candidates(self, number: int, read: CellRead) -> list[tuple[int, CellWrite]]:
        """Without what a later write of the same thread certainly hides, and what comes later."""
        thread, place = self._events[number].thread, self._place[number]
        found: list[tuple[int, CellWrite]] = []
        for other, write in self._writes.get(read.cell, ()):
            if self._events[other].thread == thread:
                if self._place[other] >= place:
                    continue
                if self._hides(number, read, other, write):
                    found = [item for item in found if self._events[item[0]].thread != thread]
            found.append((other, write))
        return found

    def _hides(self, number: int, read: CellRead, other: int, write: CellWrite) -> bool:
        """Whether a write certainly comes before a read of the same thread."""
        if self._events[other].thread != self._events[number].thread:
            return False
        if self._place[other] >= self._place[number]:
            return False
        return write.guard in (self._terms.true, read.guard)

    def _may_reach(self, branch: Branch, number: int, read: CellRead) -> bool:
        """Whether a read can find what a phantom edge writes: of its own thread only an earlier
        one, maybe in the middle of the same step."""
        if not self._paths.may_write(branch, read.cell.page):
            return False
        thread = self._events[number].thread
        if branch.thread != thread:
            return True
        return branch in self._paths.threads[thread].branches[: read.branches]

    def _comes_after(self, way: int, branch: Branch, number: int) -> None:
        """The read is later than the event behind which the branch is."""
        if branch.after == 0 or branch.thread == self._events[number].thread:
            return
        start = self._number[branch.thread, branch.after - 1]
        self._add([-way, self._is_before(start, number)])

    def _is_not_between(
        self, way: int, branch: Branch, other: int, write: CellWrite, number: int
    ) -> None:
        """A write does not come between the end of the phantom edge and the read. Until its end
        the phantom edge may write again, whenever it likes: a placement of its own for each use."""
        clause = [-way, -self._is_made(other, write.guard), self._is_before(number, other)]
        until = branch.until
        end = None if until is None else self._number.get((branch.thread, until))
        if end is None:
            return
        if end == other:
            self._add(clause)
            return
        self._add([*clause, -self._came[end], self._is_before(other, end)])

    def _take(self, way: int, symbol: int, value: int) -> None:
        """Along this way the read has found this value."""
        self._add([-way, self._literal(self._terms.eq(symbol, value))])

    # --- what goes wrong

    def _fail(self, violated: frozenset[str]) -> None:
        """Whatever can be wrong with phantom edges; without them what violates a property."""
        for thread, path in self._paths.threads.items():
            for item in path.failing:
                if not self._has_phantoms and item.violated not in violated:
                    continue
                position = self._position(thread, item.after)
                guard = item.guard if self._has_phantoms else item.path
                literal = self._both(self._both(position, guard), item.condition)
                self._failing.append((literal, item.text, thread, item.after))
            if self._has_phantoms and not path.has_ended:
                end = self._both(self._position(thread, len(path.events)), path.final_guard)
                self._failing.append((end, "", thread, len(path.events)))
        for branch, taken in self._phantoms:
            if branch.untaken.may_fail or branch.until is None:
                self._failing.append((taken, "", branch.thread, branch.after))
        self.something_fails = self.solver.new_literal()
        literals = [literal for literal, _, _, _ in self._failing]
        self._add([-self.something_fails, *literals])

    def violation(self) -> Violation:
        """From the solution that was found."""
        holds = self.solver.literal_value
        _, text, thread, after = next(item for item in self._failing if holds(item[0]))
        made = [
            number
            for number, event in enumerate(self._events)
            if holds(self._is_made(number, event.guard))
        ]
        ahead = {
            number: sum(holds(self._is_before(other, number)) for other in made) for number in made
        }
        order = sorted(made, key=lambda number: ahead[number])
        last = None if after == 0 else self._number[thread, after - 1]
        if last is not None:
            order = order[: order.index(last) + 1]
        return Violation(text, thread, tuple(self._events[number].step for number in order))

    # --- prefixes (section 5.4)

    def beginning(self, steps: Sequence[int]) -> list[int]:
        """Literals that say that an execution begins with these steps: each comes before the next,
        and the last one before all others."""
        numbers = [self._of_step[step] for step in steps if step in self._of_step]
        assumed = [self._is_made(number, self._events[number].guard) for number in numbers]
        for one, other in zip(numbers, numbers[1:], strict=False):
            assumed.append(self._is_before(one, other))
        if numbers:
            begun = set(numbers)
            for thread, path in self._paths.threads.items():
                rest = (self._number[thread, place] for place in range(len(path.events)))
                first = next((number for number in rest if number not in begun), None)
                if first is not None:
                    assumed.append(self._is_before(numbers[-1], first))
        return assumed
