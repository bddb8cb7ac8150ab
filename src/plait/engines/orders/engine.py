"""The bounded engine: refine the abstraction until it is unsatisfiable or an execution is found."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from enum import Enum

from plait.engines.orders.encode import Encoder, Encoding
from plait.engines.orders.exact import Feasible, decide_on
from plait.engines.orders.graph import EventOrderGraph
from plait.engines.orders.objects import Objects
from plait.engines.orders.unroll import unrolled
from plait.engines.orders.unrolling import Claim, InputUse, OutOfTime, Unrolling
from plait.errors import UnsupportedCode
from plait.logic.solver import Solver
from plait.model.program import Program


class Answer(Enum):
    HOLDS = "holds"
    VIOLATED = "violated"
    UNKNOWN = "unknown"


@dataclass(slots=True, eq=False)
class Statistics:
    bound: int = 0
    events: int = 0
    reads: int = 0
    links: int = 0
    variables: int = 0
    clauses: int = 0
    refinements: int = 0
    reasons: int = 0
    exact_checks: int = 0
    unrolling: float = 0.0
    solving: float = 0.0
    graph: float = 0.0


@dataclass(slots=True, eq=False)
class Counterexample:
    """The threads of the shared accesses in order (an atomic section counts once), which threads
    each thread starts, and the inputs of each thread in order."""

    threads: list[int]
    children: dict[int, list[int]]
    inputs: dict[int, list[tuple[str, int]]]
    claim: Claim
    objects: Objects


@dataclass(slots=True, eq=False)
class Outcome:
    answer: Answer
    reason: str
    statistics: Statistics = field(default_factory=Statistics)
    counterexample: Counterexample | None = None
    is_bounded: bool = False  # a larger bound may give another answer
    is_out_of_time: bool = False


def check(program: Program, bound: int, deadline: float | None = None) -> Outcome:
    """One round: all executions with up to `bound` rounds of each loop."""
    statistics = Statistics(bound=bound)
    try:
        return _Round(program, bound, deadline, statistics).run()
    except UnsupportedCode as error:
        return Outcome(Answer.UNKNOWN, f"unsupported: {error.diagnostic.message}", statistics)
    except (_OutOfTime, OutOfTime):
        reason = f"time is up with {bound} loop rounds"
        return Outcome(Answer.UNKNOWN, reason, statistics, is_out_of_time=True)


class _OutOfTime(Exception):
    pass


class _Round:
    def __init__(
        self, program: Program, bound: int, deadline: float | None, statistics: Statistics
    ) -> None:
        self._program = program
        self._bound = bound
        self._deadline = deadline
        self._statistics = statistics

    def run(self) -> Outcome:
        started = time.monotonic()
        unroller = unrolled(self._program, self._bound, self._deadline)
        self._objects = unroller.objects
        unrolling = unroller.result
        statistics = self._statistics
        with Solver(unroller.terms) as solver:
            encoder = Encoder(unrolling, solver)
            encoding = encoder.encode()
            statistics.unrolling = time.monotonic() - started
            statistics.events = len(unrolling.events)
            statistics.links = encoding.candidates
            graph = EventOrderGraph(encoding.structure)
            found = self._search(encoder, encoding, graph, solver, unrolling.violations)
            if found is not None:
                return Outcome(
                    Answer.VIOLATED,
                    found.message,
                    statistics,
                    self._counterexample(graph, solver, unrolling, found),
                )
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

    def _search(
        self,
        encoder: Encoder,
        encoding: Encoding,
        graph: EventOrderGraph,
        solver: Solver,
        claims: list[Claim],
    ) -> Claim | None:
        """A claim that some execution meets; then the solver has its model."""
        wanted = encoder.any_of(claims)
        if wanted is None:
            return None
        statistics = self._statistics
        while True:
            started = time.monotonic()
            answer = solver.solve([wanted], deadline=self._deadline)
            statistics.solving += time.monotonic() - started
            if answer is None:
                raise _OutOfTime
            if not answer:
                return None
            started = time.monotonic()
            true = [
                literal for literal in encoding.structure.literals if solver.literal_value(literal)
            ]
            reasons: list[frozenset[int]]
            if graph.validate(true):
                statistics.exact_checks += 1
                decided = decide_on(graph)
                if isinstance(decided, Feasible):
                    self._schedule = decided.schedule
                    statistics.graph += time.monotonic() - started
                    return next(claim for claim in claims if solver.model_value(claim.condition))
                reasons = [decided.reason]
            else:
                reasons = [graph.conflict_reason()]
            for reason in reasons:
                solver.add_clause([-literal for literal in reason])
            statistics.refinements += 1
            statistics.reasons += len(reasons)
            statistics.graph += time.monotonic() - started
            if self._deadline is not None and time.monotonic() > self._deadline:
                raise _OutOfTime

    _schedule: tuple[int, ...] = ()

    def _counterexample(
        self, graph: EventOrderGraph, solver: Solver, unrolling: Unrolling, claim: Claim
    ) -> Counterexample:
        events = unrolling.events
        threads: list[int] = []
        sections: set[int] = set()
        for number in self._schedule:
            if number >= len(events) or not events[number].is_access:
                continue
            begin = next(
                (one for one, when in events[number].section if solver.model_value(when)),
                None,
            )
            if begin is None or begin not in sections:
                threads.append(events[number].thread)
            if begin is not None:
                sections.add(begin)
        children: dict[int, list[int]] = {}
        for thread in unrolling.threads:
            if thread.parent > 0 and solver.model_value(thread.guard):
                children.setdefault(thread.parent, []).append(thread.number)
        inputs: dict[int, list[tuple[str, int]]] = {}
        for use in unrolling.inputs:
            if solver.model_value(use.guard):
                value = _signed(use, solver.model_value(use.term))
                inputs.setdefault(use.thread, []).append((use.name, value))
        return Counterexample(threads, children, inputs, claim, self._objects)


def _signed(use: InputUse, value: int) -> int:
    return use.type.wrap(value)
