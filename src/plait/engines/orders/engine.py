"""The bounded engine: refine the abstraction until it is unsatisfiable or an execution is found."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace

from plait.engines.orders.cores import CORE_SOLVER, Cores
from plait.engines.orders.encode import Encoder, Encoding
from plait.engines.orders.events import EventStructure
from plait.engines.orders.exact import Feasible, decide_on
from plait.engines.orders.graph import EventOrderGraph
from plait.engines.orders.learning import unroll, unroll_for_deadlocks
from plait.engines.orders.monolithic import Monolithic
from plait.engines.orders.outcome import Answer, Counterexample, Outcome, Statistics
from plait.engines.orders.propagator import OrderPropagator
from plait.engines.orders.settings import OrderEncoding, Refinement, Settings
from plait.engines.orders.unrolling import Access, Claim, InputUse, Occurrence, OutOfTime, Unrolling
from plait.errors import UnsupportedCode
from plait.logic.solver import Solver
from plait.logic.terms import Terms
from plait.model.program import Program

_LAST_BOUND = 1 << 12
_MOST_FAILURES = 20
_MOST_SUSPICIONS = 4
_NOT_FREED = "whether memory that is not freed is lost is not decided"
_FIRST_SHARE = 0.1  # of the time that is left, for one bound
_LEAST_SECONDS = 2.0
_MOST_SECONDS = 60.0  # where the time is not limited: of these, then more and more

Progress = Callable[[Outcome], None]
Confirm = Callable[[Counterexample], str]  # empty, or why it is no counterexample


def verify(
    program: Program,
    settings: Settings,
    deadline: float | None = None,
    progress: Progress | None = None,
    confirm: Confirm | None = None,
) -> Outcome:
    """Loop bounds 1, 2, 4, ... until the answer no longer depends on it, or the bound given.

    A violation may be far and yet easy to find, when it is hard to show that there is none nearby.
    So a bound that takes long is put off: each one gets a part of the time left, and when the
    largest has had its turn, those that were put off get twice as much.
    `progress` gets what is known after each bound. Violations that `confirm` objects to do not
    count.
    """
    statistics = Statistics()
    if settings.unwind is not None:
        return check(program, settings.unwind, deadline, settings, statistics, confirm)
    best: Outcome | None = None
    pending = deque(1 << number for number in range(_LAST_BOUND.bit_length()))
    put_off: list[int] = []
    share = _FIRST_SHARE
    while pending or put_off:
        if not pending:
            pending.extend(put_off)
            put_off.clear()
            share *= 2
        bound = pending.popleft()
        if best is not None and bound <= best.statistics.bound:
            continue
        started = time.monotonic()
        limit = started + _MOST_SECONDS * share
        if deadline is not None:
            limit = min(deadline, started + max(_LEAST_SECONDS, (deadline - started) * share))
        outcome = check(program, bound, limit, settings, statistics, confirm)
        outcome.statistics = replace(statistics)
        is_late = deadline is not None and time.monotonic() >= deadline
        if outcome.is_out_of_time and not is_late:
            put_off.append(bound)
            if not outcome.is_unrolled:  # larger ones take even longer
                put_off += pending
                pending.clear()
            continue
        if not outcome.is_bounded:
            # What was shown with a smaller bound says more than that the time is up.
            return best if best is not None and outcome.is_out_of_time else outcome
        best = outcome
        if progress is not None:
            progress(outcome)
    assert best is not None
    return best


def check(
    program: Program,
    bound: int,
    deadline: float | None = None,
    settings: Settings = Settings(),  # noqa: B008 (frozen)
    statistics: Statistics | None = None,
    confirm: Confirm | None = None,
) -> Outcome:
    """One round: all executions with up to `bound` rounds of each loop."""
    statistics = statistics or Statistics()
    statistics.bound = bound
    whole = _Round(program, bound, deadline, settings, statistics, confirm)
    statistics.variables = statistics.clauses = 0  # of this bound, nothing is known yet
    try:
        return whole.run()
    except UnsupportedCode as error:
        return Outcome(Answer.UNKNOWN, f"unsupported: {error.diagnostic.message}", statistics)
    except OutOfTime:
        reason = f"time is up with {bound} loop rounds"
        return Outcome(
            Answer.UNKNOWN,
            reason,
            statistics,
            is_out_of_time=True,
            is_unrolled=whole.is_unrolled,
        )


class _Round:
    def __init__(
        self,
        program: Program,
        bound: int,
        deadline: float | None,
        settings: Settings,
        statistics: Statistics,
        confirm: Confirm | None,
    ) -> None:
        self._confirm = confirm or (lambda _: "")
        self._can_confirm = confirm is not None
        self._program = program
        self._bound = bound
        self._deadline = deadline
        self._settings = settings
        self._statistics = statistics

    def run(self) -> Outcome:
        started = time.monotonic()
        terms = Terms()
        if self._settings.finds_deadlocks:
            learned = unroll_for_deadlocks(self._program, terms, self._bound, self._deadline)
        else:
            learned = unroll(
                self._program,
                terms,
                self._bound,
                self._deadline,
                self._settings.finds_races,
                self._settings.checks_memory,
            )
        self._objects, unrolling = learned.objects, learned.unrolling
        self.is_unrolled = True
        statistics = self._statistics
        statistics.unrolling += time.monotonic() - started
        with ExitStack() as stack:
            solver = stack.enter_context(Solver(terms))
            started = time.monotonic()
            encoder = Encoder(learned, solver, self._settings.finds_races)
            encoding = encoder.encode()
            self._choose_method(encoding.structure, solver, stack)
            statistics.encoding += time.monotonic() - started
            self._count(unrolling, encoding, solver)
            graph = EventOrderGraph(encoding.structure)
            for claims in (unrolling.violations, unrolling.leaks):
                found = self._violation(encoder, encoding, graph, solver, unrolling, claims)
                if found is not None:
                    return found
                if self._doubtful:
                    is_leak = claims is unrolling.leaks
                    reason = _NOT_FREED if is_leak else self._doubtful
                    return Outcome(Answer.UNKNOWN, reason, statistics)
            found = self._suspicion(encoder, encoding, graph, solver, unrolling)
            if found is not None:
                return found
            trouble = self._search(encoder, encoding, graph, solver, unrolling.troubles)
            if trouble is not None:
                place = self._program.place(trouble.origin)
                reason = f"{trouble.what}: {trouble.message} ({place})"
                return Outcome(Answer.UNKNOWN, reason, statistics)
            cut = self._search(encoder, encoding, graph, solver, unrolling.cuts)
            if cut is not None:
                reason = f"no violation with up to {self._bound} loop rounds"
                return Outcome(Answer.UNKNOWN, reason, statistics, is_bounded=True)
            return Outcome(Answer.HOLDS, "all executions are within the bound", statistics)

    is_unrolled = False

    def _choose_method(self, structure: EventStructure, solver: Solver, stack: ExitStack) -> None:
        if self._settings.encoding is OrderEncoding.MONOLITHIC:
            self._baseline = Monolithic(structure, solver, self._deadline)
        elif self._settings.refinement is Refinement.CORES:
            second = stack.enter_context(Solver(Terms(), CORE_SOLVER))
            self._baseline = Cores(structure, second, self._deadline)
        elif self._settings.refinement is Refinement.PROPAGATOR and structure.literals:
            # Before the solver is used: later its variables may be gone.
            self._propagator = OrderPropagator(EventOrderGraph(structure))
            solver.connect_propagator(self._propagator, self._propagator.observed())

    _doubtful = ""

    def _violation(
        self,
        encoder: Encoder,
        encoding: Encoding,
        graph: EventOrderGraph,
        solver: Solver,
        unrolling: Unrolling,
        claims: list[Claim],
    ) -> Outcome | None:
        """A violation that `confirm` accepts. First one in an execution without undefined
        behaviour in which nobody reaches the loop bound: such a thread might stop at a place
        where it cannot. If there is none, one in any execution, which may not replay."""
        quiet = encoder.none_of([*unrolling.troubles, *unrolling.cuts])
        excluding = solver.new_literal()
        stages = [[excluding]] if quiet is None else [[excluding, quiet], [excluding]]
        failures = 0
        for assumed in stages:
            while failures < _MOST_FAILURES:
                found = self._search(encoder, encoding, graph, solver, claims, assumed)
                if found is None:
                    break
                example = self._counterexample(graph, solver, unrolling, found)
                self._doubtful = self._confirm(example)
                if not self._doubtful:
                    return Outcome(Answer.VIOLATED, found.message, self._statistics, example)
                self._exclude(excluding, encoding, solver)
                failures += 1
        return None

    def _suspicion(
        self,
        encoder: Encoder,
        encoding: Encoding,
        graph: EventOrderGraph,
        solver: Solver,
        unrolling: Unrolling,
    ) -> Outcome | None:
        """One of a few suspicions that `confirm` accepts; that it does not means nothing."""
        if not self._can_confirm:
            return None
        excluding = solver.new_literal()
        for _ in range(_MOST_SUSPICIONS):
            claims = unrolling.suspicions
            found = self._search(encoder, encoding, graph, solver, claims, [excluding])
            if found is None:
                return None
            example = self._counterexample(graph, solver, unrolling, found)
            if not self._confirm(example):
                return Outcome(Answer.VIOLATED, found.message, self._statistics, example)
            self._exclude(excluding, encoding, solver)
        return None

    def _exclude(self, excluding: int, encoding: Encoding, solver: Solver) -> None:
        """Not this execution again, as far as violations are concerned."""
        chosen = [link.literal for link in encoding.structure.links]
        solver.add_clause([-excluding, *(-item for item in chosen if solver.literal_value(item))])

    def _count(self, unrolling: Unrolling, encoding: Encoding, solver: Solver) -> None:
        numbers = self._statistics
        numbers.threads = len(unrolling.threads)
        numbers.events = len(unrolling.events)
        numbers.reads = sum(item.kind is Access.READ for item in unrolling.events)
        numbers.writes = sum(item.kind is Access.WRITE for item in unrolling.events)
        numbers.links = encoding.candidates
        numbers.variables = solver.gates.variables
        numbers.clauses = solver.gates.clauses

    def _search(
        self,
        encoder: Encoder,
        encoding: Encoding,
        graph: EventOrderGraph,
        solver: Solver,
        claims: list[Claim],
        assumed: list[int] | None = None,
    ) -> Claim | None:
        """A claim that some execution meets; then the solver has its model."""
        wanted = encoder.any_of(claims)
        if wanted is None:
            return None
        assumptions = [wanted, *(assumed or ())]
        statistics = self._statistics
        while True:
            started = time.monotonic()
            answer = solver.solve(assumptions, deadline=self._deadline)
            statistics.solving += time.monotonic() - started
            if self._propagator is not None:
                statistics.propagations += self._propagator.refutations
                self._propagator.refutations = 0
            if answer is None:
                raise OutOfTime
            if not answer:
                return None
            started = time.monotonic()
            true = [
                literal for literal in encoding.structure.literals if solver.literal_value(literal)
            ]
            decided = self._decide(graph, true)
            if isinstance(decided, Feasible):
                self._schedule = decided.schedule
                statistics.graph += time.monotonic() - started
                return next(claim for claim in claims if solver.model_value(claim.condition))
            for reason in decided:
                solver.add_clause([-literal for literal in reason])
            statistics.add_reasons(decided)
            statistics.graph += time.monotonic() - started
            if self._deadline is not None and time.monotonic() > self._deadline:
                raise OutOfTime

    def _decide(self, graph: EventOrderGraph, true: list[int]) -> Feasible | list[frozenset[int]]:
        """A schedule in which these literals hold, or reasons why there is none."""
        if self._baseline is None:
            reasons = graph.reasons(true)
            if reasons:
                return reasons
        self._statistics.exact_checks += 1
        decided = decide_on(graph) if self._baseline is None else self._baseline.decide(true)
        return decided if isinstance(decided, Feasible) else [decided.reason]

    _propagator: OrderPropagator | None = None
    _baseline: Monolithic | Cores | None = None  # decides instead of the order graph
    _schedule: tuple[int, ...] = ()

    def _counterexample(
        self, graph: EventOrderGraph, solver: Solver, unrolling: Unrolling, claim: Claim
    ) -> Counterexample:
        def section_of(event: Occurrence) -> int | None:
            return next((one for one, when in event.section if solver.model_value(when)), None)

        events = unrolling.events
        threads: list[int] = []
        sections: set[int] = set()
        to_come = {thread.number: iter(thread.all_events) for thread in unrolling.threads}
        last = None if claim.race is None else events[claim.race[1]]
        last_section = None if last is None else section_of(last)
        is_over = False
        for number in self._schedule:
            if is_over:
                break
            if number >= len(events) or events[number].thread not in to_come:
                continue
            for event in to_come[events[number].thread]:
                begin = section_of(event)
                is_over = event is last or (begin is not None and begin == last_section)
                if is_over:
                    break  # the state in which two accesses are next
                if event.is_access and solver.model_value(event.guard):
                    if begin is None or begin not in sections:
                        threads.append(event.thread)
                    if begin is not None:
                        sections.add(begin)
                if event is events[number]:
                    break
        children: dict[int, list[int]] = {}
        for thread in unrolling.threads:
            if thread.parent > 0 and solver.model_value(thread.guard):
                children.setdefault(thread.parent, []).append(thread.number)
        inputs: dict[int, list[tuple[str, int]]] = {}
        for use in unrolling.inputs:
            if solver.model_value(use.guard):
                value = _signed(use, solver.model_value(use.term))
                inputs.setdefault(use.thread, []).append((use.name, value))
        return Counterexample(
            threads,
            children,
            inputs,
            claim,
            self._objects,
            None if last is None else (claim.thread, last.thread),
        )


def _signed(use: InputUse, value: int) -> int:
    return use.type.wrap(value)
