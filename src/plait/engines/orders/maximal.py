"""Deadlocks as claims about maximal executions: those in which no thread can take a further step.

If no execution exceeds the loop bound, every execution can be continued to a maximal one. A thread
that is blocked for ever is still blocked at the end of every continuation. So there is a deadlock
exactly if some maximal execution, in which no assumption fails and the process does not end, ends
with a thread that is blocked.

Where other unrollings let a thread stop before an atomic section, because executions are closed
under prefixes, here it may stop only if it is stuck there when all threads have come to their ends.
To find out, it tries the section once more, then: the section's reads also exist as reads behind
the end of all threads, of which at most one, the read in its time or the *late* one, occurs. They
have one value, so that everything between the begin and the end of the section is unrolled once for
both. Who comes late writes nothing that others see. It is blocked at the first wait whose condition
is false. A failing assumption lets it just stand before the section. At the end of the section
there must be nobody who came late.

In the same way a thread may stay in a loop that only waits, if a round that it begins at the end of
all threads leads back to the head of the loop. A round in its time leaves the loop: others can be
left out (see `plait.analysis.loops`).

A thread is stuck if it is so with all inputs. If one that comes late meets inputs, it may be that
the formula has chosen those with which it is: then a deadlock is only suspected.

What a thread that comes late meets in the way of undefined behaviour and loop bounds, it would also
meet in its time.

A thread in which an assumption fails outside of atomic sections ends the execution: it does not
exist. Whether every continuation of some state fails an assumption is not decided. If an assumption
can fail at all after a thread has come to a wait, the verdict is left open, unless other inputs
since the last step that others can see would have let the thread pass: then from each state some
continuation goes on.
"""

from __future__ import annotations

import time

from plait.analysis.bounds import Loop
from plait.data import dataclass
from plait.engines.orders.bounds import Bounds
from plait.engines.orders.knowledge import Knowledge
from plait.engines.orders.paths import Path, Stand
from plait.engines.orders.shared import Latecomers
from plait.engines.orders.unroll import Unroller
from plait.engines.orders.unrolling import Claim, Occurrence
from plait.engines.orders.unrolling_facts import Cell, UnrollingFacts
from plait.logic.operators import VARIABLE
from plait.logic.solver import Solver
from plait.logic.terms import Terms
from plait.model.actions import (
    EndProcess,
    EndThread,
    Input,
    Load,
    Origin,
    ReadModifyWrite,
    Return,
    Store,
    Wait,
)
from plait.model.program import Edge, Function, Program

_SECTION: Stand = (-1, -1)
_MOST_SECONDS = 1.0

_DEPENDS = "whether all threads are stuck when a thread waits here depends on inputs"
_DOUBT = "it fails in executions in which a thread may be blocked"


@dataclass(frozen=True, slots=True)
class _Assumption:
    """`is_avoidable`: whenever it fails, other inputs would have let the thread pass."""

    failing: int
    thread: int
    origin: Origin
    is_avoidable: bool


@dataclass(frozen=True, slots=True)
class _Input:
    """`moment` is the same for all that happens in one step; `limits` hold of all its values."""

    term: int
    moment: tuple[int, ...]
    limits: list[int]


class _Latecomers(Latecomers):
    """Who comes late has no events for what it writes, but sees it. `reads` are the events of its
    reads, and when they are late."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        # What is written in a section to a cell or region: when, where and what.
        self._writes: dict[tuple[int, Cell], list[tuple[int, int | None, int]]] = {}
        self.reads: list[tuple[Occurrence, int]] = []

    def write(self, event: Occurrence, here: int, path: Path) -> None:
        when = self._terms.and_(path.condition.late_term(self._terms), here)
        if path.section is None or when == self._terms.false:
            return
        assert event.cell is not None
        for name, _ in path.section[0]:
            written = self._writes.setdefault((name, event.cell), [])
            written.append((when, event.address, event.value))

    def read(self, event: Occurrence, here: int, value: int, path: Path) -> int:
        terms = self._terms
        if path.condition.late:
            when = terms.and_(path.condition.late_term(terms), here)
            if when != terms.false:
                self.reads.append((event, when))
        if path.section is None or event.cell is None:
            return value
        for name, _ in path.section[0]:
            for when, address, written in self._writes.get((name, event.cell), ()):
                is_this = terms.and_(when, here)
                if event.address is not None and address is not None:
                    is_this = terms.and_(is_this, terms.eq(event.address, address))
                value = terms.ite(is_this, written, value)
        return value


class MaximalUnroller(Unroller):
    """Unrolls to maximal executions; the violations are deadlocks."""

    def __init__(
        self,
        program: Program,
        terms: Terms,
        bounds: Bounds,
        knowledge: Knowledge,
        known: UnrollingFacts,
    ) -> None:
        self._late = _Latecomers(terms)
        super().__init__(program, terms, bounds, knowledge, known, self._late)
        self._blocked: list[Claim] = []  # without what the other threads do
        self._waits: list[int] = []  # when threads come to where they may be blocked
        self._ends: list[int] = []  # when the process ends
        self._assumptions: list[_Assumption] = []
        self._inputs: list[_Input] = []
        self._late_inputs: list[int] = []
        # Of the waits and assumptions of sections, which are not parts of the paths' conditions.
        self._required: dict[tuple[int, ...], list[int]] = {}
        self._pauses = 0

    def _finish(self) -> None:
        """Claim deadlocks, and doubts."""
        terms, result = self.terms, self.result
        result.late += self._late.reads
        others = [*self._ends, *(item.failing for item in self._assumptions)]
        others += [claim.condition for claim in result.troubles]
        is_quiet = terms.not_(terms.any_of(others))
        is_cut = terms.any_of(claim.condition for claim in result.cuts)
        depends = terms.any_of(self._late_inputs)
        is_open = terms.or_(is_cut, depends)
        troubles: list[Claim] = []
        for claim in self._blocked:
            blocked = terms.and_(claim.condition, is_quiet)
            for claims, whether, what, message in (
                (result.violations, terms.not_(is_open), claim.what, claim.message),
                (result.suspicions, is_open, claim.what, claim.message),
                (troubles, terms.and_(depends, terms.not_(is_cut)), "limit", _DEPENDS),
            ):
                condition = terms.and_(blocked, whether)
                if condition != terms.false:
                    claims.append(Claim(condition, claim.thread, what, message, claim.origin))
        result.troubles += troubles
        waits = terms.any_of(self._waits)
        for item in self._assumptions:
            condition = terms.and_(item.failing, waits)
            if not item.is_avoidable and condition != terms.false:
                doubt = Claim(condition, item.thread, "assumption", _DOUBT, item.origin)
                result.troubles.append(doubt)

    # Stops

    def _begin_or_stop(self, path: Path, happens: int) -> None:
        self._waits.append(path.condition.term)
        stops = self.terms.and_(path.condition.term, self.terms.not_(happens))
        super()._begin_or_stop(path, happens)
        path.condition = path.condition.with_late(_SECTION, stops)

    def _end(self, path: Path, origin: Origin) -> None:
        if path.section is not None and path.section[1] == 1:
            self._nobody_late(path, [_SECTION])
        super()._end(path, origin)

    def _nobody_late(self, path: Path, stands: list[Stand]) -> None:
        """The thread is not stuck: it could have come here in its time."""
        late = [path.condition.late[stand] for stand in stands if stand in path.condition.late]
        if late:
            self.result.facts.append(self.terms.not_(self.terms.any_of(late)))
            path.condition = path.condition.without_late(*stands)

    def _wait(self, action: Wait, path: Path) -> Path | None:
        terms = self.terms
        stays = path.condition.late_term(terms)
        if path.section is None:
            # The condition is one of registers: they do not change any more.
            stays = path.condition.either_term(terms)
            self._waits.append(stays)
        blocked = terms.and_(stays, terms.not_(self._evaluator.truth(action.condition, path)))
        if blocked != terms.false:
            number, message = self._log.run.number, f"a thread waits for {action.what} for ever"
            place = self._user_origin(action.origin)
            self._blocked.append(Claim(blocked, number, "no-deadlock", message, place))
        return super()._wait(action, path)

    def _assume(self, path: Path, condition: int, origin: Origin) -> Path | None:
        terms = self.terms
        comes = path.condition.either_term(terms)
        if path.section is not None:
            comes = path.condition.late.get(_SECTION, terms.false)
        failing = terms.and_(comes, terms.not_(condition))
        if failing == terms.false:
            return super()._assume(path, condition, origin)
        is_avoidable = self._is_avoidable(path, condition)
        if path.section is None:
            place = self._user_origin(origin)
            item = _Assumption(failing, self._log.run.number, place, is_avoidable)
            self._assumptions.append(item)
        elif is_avoidable:
            # Who is stuck is so with all inputs, also with those that pass here.
            self.result.facts.append(terms.not_(failing))
        return super()._assume(path, condition, origin)

    def _require(self, path: Path, condition: int) -> Path | None:
        if path.section is not None:
            self._required.setdefault(self._moment(path), []).append(condition)
        return super()._require(path, condition)

    def _is_avoidable(self, path: Path, condition: int) -> bool:
        """Whether inputs of the running step alone decide, and can decide well, whether the thread
        comes here and passes. In a section they must also pass all that was required in it before,
        on any path: so the inputs that pass the last such place pass all of them."""
        terms = self.terms
        inputs = [item for item in self._inputs if item.moment == self._moment(path)]
        own = {item.term for item in inputs}
        wanted = [condition, *(limit for item in inputs for limit in item.limits)]
        before = [*path.condition.parts, *self._required.get(self._moment(path), ())]
        wanted += [part for part in before if own & set(self._variables(part))]
        if not own.issuperset(name for part in wanted for name in self._variables(part)):
            return False
        with Solver(terms) as solver:
            for part in wanted:
                solver.assert_term(part)
            return bool(solver.solve(deadline=time.monotonic() + _MOST_SECONDS))

    def _variables(self, term: int) -> list[int]:
        terms = self.terms
        return [part for part in terms.parts([term]) if terms.operator[part] == VARIABLE]

    def _act(self, edge: Edge, path: Path) -> Path | None:
        if isinstance(edge.action, (Load, Store, ReadModifyWrite)):
            self._pauses += 1
        return super()._act(edge, path)

    def _moment(self, path: Path) -> tuple[int, ...]:
        """The same in an atomic section; else it changes with every access to memory, everything
        else that others can see, and where the reference interpreter may pause in between."""
        if path.section is not None:
            return self._log.run.number, *(begin for begin, _ in path.section[0])
        return self._log.run.number, len(self.result.events), self._pauses, 0

    def _input(self, action: Input, edge: Edge, path: Path) -> Path | None:
        count = len(self.result.facts)
        following = super()._input(action, edge, path)
        term = path.registers[action.target.index]
        assert term is not None
        self._inputs.append(_Input(term, self._moment(path), self.result.facts[count:]))
        self._late_inputs.append(path.condition.late_term(self.terms))
        return following

    def _leave(
        self,
        function: Function,
        location: int,
        path: Path,
        returned: list[tuple[Path, int | None]],
    ) -> list[tuple[Edge, Path | None]]:
        action = function.edges[location][0].action
        if isinstance(action, EndProcess):
            self._ends.append(path.condition.either_term(self.terms))
        elif isinstance(action, EndThread):
            self._nobody_late(path, list(path.condition.late))
        elif isinstance(action, Return):
            depth = len(self._calls)
            self._nobody_late(path, [item for item in path.condition.late if item[0] == depth])
        return super()._leave(function, location, path, returned)

    def _user_origin(self, origin: Origin) -> Origin:
        """Of an action of the library, the call that led there."""
        if not self._log.function.library:
            return origin
        called = [False, *(not self.program.functions[name].library for name in self._calls)]
        place = max((depth for depth, is_own in enumerate(called) if is_own), default=None)
        return origin if place is None else self._stack[place].action.origin

    # Loops that only wait

    def _come_to_head(self, loop: Loop, path: Path) -> None:
        self._pauses += 1
        if loop.is_spin and path.section is None:
            leaves = self.terms.fresh("leaves", 1)
            stays = self.terms.and_(path.condition.term, self.terms.not_(leaves))
            path.condition = path.condition.with_part(self.terms, leaves)
            path.condition = path.condition.with_late((len(self._calls), loop.head), stays)

    def _leave_loops(self, loops: list[Loop], path: Path) -> None:
        depth = len(self._calls)
        self._nobody_late(path, [(depth, loop.head) for loop in loops])

    def _spin(self, path: Path, origin: Origin) -> None:
        if path.section is None:
            self.result.facts.append(self.terms.not_(path.condition.term))
        else:
            message = "an atomic section does not end"
            self._log.claim(self.result.troubles, path, "limit", message, origin)
