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
both. Who comes late writes nothing. It is blocked at the first wait whose condition is false. A
failing assumption lets it just stand before the section. At the end of the section there must be
nobody who came late.

In the same way a thread may stay in a loop that only waits, if a round that it begins at the end of
all threads leads back to the head of the loop. A round in its time leaves the loop: others can be
left out (see `plait.analysis.loops`).

What a thread that comes late meets in the way of undefined behaviour and loop bounds, it would also
meet in its time.

A thread in which an assumption fails outside of atomic sections ends the execution: it does not
exist. Whether every continuation of some state fails an assumption is not decided. If an assumption
can fail at all after a thread has come to a wait, the verdict is left open, unless other inputs
since the last step that others can see would have let the thread pass: then from each state some
continuation goes on.
"""

from __future__ import annotations

from plait.analysis.bounds import Loop
from plait.engines.orders.knowledge import Knowledge
from plait.engines.orders.lessons import Lessons
from plait.engines.orders.paths import Path, Stand
from plait.engines.orders.unroll import Unroller
from plait.engines.orders.unrolling import Access, Claim, Occurrence
from plait.logic.terms import Terms
from plait.model.actions import EndProcess, EndThread, Origin, Return, Wait
from plait.model.program import Edge, Function, Program

_SECTION: Stand = (-1, -1)

DOUBT = "an assumption fails in an execution in which a thread may wait"


class MaximalUnroller(Unroller):
    """Unrolls to maximal executions; the violations are deadlocks."""

    def __init__(
        self,
        program: Program,
        terms: Terms,
        bound: int,
        knowledge: Knowledge,
        lessons: Lessons,
    ) -> None:
        super().__init__(program, terms, bound, knowledge, lessons)
        self._blocked: list[Claim] = []  # by what a thread is stuck in for good, without more
        self._waits: list[int] = []  # when threads come to waits
        self._ends: list[int] = []  # when the process ends
        self._failing: list[tuple[int, int, Origin]] = []  # assumptions: when, whose, where

    def _finish(self) -> None:
        """Claim deadlocks, and doubts."""
        terms, result = self.terms, self.result
        others = [*self._ends, *(failing for failing, _, _ in self._failing)]
        others += [claim.condition for claim in [*result.troubles, *result.cuts]]
        is_quiet = terms.not_(terms.any_of(others))
        for claim in self._blocked:
            claim.condition = terms.and_(claim.condition, is_quiet)
            if claim.condition != terms.false:
                result.violations.append(claim)
        waits = terms.any_of(self._waits)
        for failing, thread, origin in self._failing:
            condition = terms.and_(failing, waits)
            if condition != terms.false:
                result.troubles.append(Claim(condition, thread, "assumptions", DOUBT, origin))

    # Stops

    def _begin_or_stop(self, path: Path, happens: int) -> None:
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
        terms, condition = self.terms, path.condition
        comes = condition.either_term(terms)
        # Outside of sections the condition is one of registers: they do not change any more.
        stays = comes if path.section is None else condition.late_term(terms)
        blocked = terms.and_(stays, terms.not_(self._truth(action.condition, path)))
        self._waits.append(comes)
        if blocked != terms.false:
            number, message = self._run.number, f"a thread waits for {action.what} for ever"
            self._blocked.append(Claim(blocked, number, "no-deadlock", message, action.origin))
        return super()._wait(action, path)

    def _assume(self, path: Path, condition: int, origin: Origin) -> Path | None:
        if path.section is None:
            comes = path.condition.either_term(self.terms)
            failing = self.terms.and_(comes, self.terms.not_(condition))
            if failing != self.terms.false:
                self._failing.append((failing, self._run.number, origin))
        return super()._assume(path, condition, origin)

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

    # Loops that only wait

    def _come_to_head(self, loop: Loop, path: Path) -> None:
        if loop.is_spin and path.section is None:
            leaves = self.terms.fresh("leaves", 1)
            stays = self.terms.and_(path.condition.term, self.terms.not_(leaves))
            path.condition = path.condition.with_part(self.terms, leaves)
            path.condition = path.condition.with_late((len(self._calls), loop.head), stays)

    def _leave_loops(self, loops: list[Loop], path: Path) -> None:
        depth = len(self._calls)
        self._nobody_late(path, [(depth, loop.head) for loop in loops])

    def _spin(self, path: Path, origin: Origin) -> None:
        endless = path.condition.late.get(_SECTION)
        if endless is not None:
            message = "an atomic section does not end"
            self.result.troubles.append(Claim(endless, self._run.number, "limit", message, origin))
        if path.section is None:
            self.result.facts.append(self.terms.not_(path.condition.term))
        super()._spin(path, origin)

    # Late reads

    def _event(
        self,
        kind: Access,
        cell: tuple[int, int],
        here: int,
        value: int,
        path: Path,
        origin: Origin,
        is_access: bool = True,
    ) -> Occurrence:
        event = super()._event(kind, cell, here, value, path, origin, is_access)
        if kind is Access.READ and path.condition.late:
            when = self.terms.and_(path.condition.late_term(self.terms), here)
            if when != self.terms.false:
                self.result.late.append((event, when))
        return event
