"""The bounded engine: refine the abstraction until it is unsatisfiable or an execution is found."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator
from contextlib import ExitStack
from typing import TypeVar

from plait.data import dataclass, replace
from plait.engines.interface import (
    AccessOrder,
    Answer,
    Counterexample,
    OutOfTime,
    UnsetValues,
    WeakOrder,
)
from plait.engines.orders.baselines.cores import CORE_SOLVER, Cores
from plait.engines.orders.baselines.kernel import kernel_reasons_of
from plait.engines.orders.baselines.monolithic import Monolithic
from plait.engines.orders.bounds import Bounds, Hints, Key
from plait.engines.orders.encode import Encoder, Encoding
from plait.engines.orders.exact import Feasible, decide_on
from plait.engines.orders.graph import EventOrderGraph
from plait.engines.orders.learning import Learned, unroll, unroll_for_deadlocks
from plait.engines.orders.objects import other_addresses, other_numbers
from plait.engines.orders.outcome import BoundOutcome, Phase, Statistics
from plait.engines.orders.propagator import OrderPropagator
from plait.engines.orders.settings import OrderEncoding, Refinement, Settings
from plait.engines.orders.unrolling import Access, Claim, InputUse, Occurrence
from plait.engines.orders.weak.buffers import BufferEncoder
from plait.engines.orders.weak.c11 import AxiomEncoder
from plait.errors import UnsupportedCode
from plait.logic.solver import Solver
from plait.logic.terms import Terms
from plait.logic.translate import NAN_BITS, OPEN_NAN
from plait.model.actions import CheckKind
from plait.model.facts import Fact
from plait.model.memory_model import TABLE, MemoryModel
from plait.model.program import Program
from plait.model.unset import Unset, of_static

_LAST_BOUND = 1 << 12
_UNDEFINED = CheckKind.UNDEFINED.value
_MOST_WITHOUT_PROOF = 32  # loop rounds that are searched though there is no proof any more
_MOST_FAILURES = 20
_MOST_SUSPICIONS = 4
_NOT_FREED = "whether memory that is not freed is lost is not decided"
_OPEN = "what lies beyond the loop bound may end a wait"
_MAY_RACE = "the execution may have a data race, which is undefined in C11"
_FIRST_SHARE = 0.1  # of the time that is left, for one bound
_LEAST_SECONDS = 2.0
_FEW_CONFLICTS = 3000
_MOST_PUT_OFF = 3  # at first, then more and more
_MOST_PAUSED = 3  # of the bounds that were put off: formulas need memory
_NEWS_PERIOD = 0.5  # of a phase that goes on
_MOST_SECONDS = 60.0  # where the time is not limited: of these, then more and more

T = TypeVar("T")
Pausing = Generator[None, None, T]  # stops when the time is up, to go on when there is more
Progress = Callable[[BoundOutcome], None]
Doing = Callable[[Phase, Statistics], None]
Confirm = Callable[[Counterexample], str]  # empty, or why it is no counterexample
Known = Callable[[], tuple[Fact, ...]]  # what others have proved by now


def verify(
    program: Program,
    settings: Settings,
    deadline: float | None = None,
    progress: Progress | None = None,
    confirm: Confirm | None = None,
    doing: Doing | None = None,
    known: Known | None = None,
) -> BoundOutcome:
    """Loop bounds 1, 2, 4, ... until the answer no longer depends on it, or the bound given.

    A violation may be far and yet easy to find, when it is hard to show that there is none nearby.
    So a bound that takes long is put off, to go on later where it stopped.
    `progress` gets what is known after each bound, `doing` hears what begins. Violations that
    `confirm` objects to do not count. Facts that are `known` when a bound is begun help with it.
    """
    statistics = Statistics()
    if settings.unwind is not None:
        return check(program, settings.unwind, deadline, settings, statistics, confirm, doing)

    def begin(bounds: Bounds) -> _Round:
        return _Round(program, bounds, settings, statistics, confirm, doing)

    return _Deepening(begin, deadline, progress, known).run()


def check(
    program: Program,
    bound: int,
    deadline: float | None = None,
    settings: Settings = Settings(),  # noqa: B008 (frozen)
    statistics: Statistics | None = None,
    confirm: Confirm | None = None,
    doing: Doing | None = None,
) -> BoundOutcome:
    """One round: all executions with up to `bound` rounds of each loop."""
    bounds, numbers = Bounds.same(bound), statistics or Statistics()
    while True:
        outcome = _Round(program, bounds, settings, numbers, confirm, doing).run(deadline)
        raised = bounds.raise_(outcome.exceeded | outcome.may_be_violated_beyond)
        if raised.open_arrays == bounds.open_arrays:
            return outcome
        bounds = raised


@dataclass(frozen=True, slots=True, eq=False)
class _Formula:
    """What one bound is about."""

    learned: Learned
    encoder: Encoder
    encoding: Encoding
    graph: EventOrderGraph
    solver: Solver
    propagator: OrderPropagator | None
    baseline: Monolithic | Cores | None  # decides instead of the order graph

    def exclude(self, excluding: int) -> None:
        """Not the last execution again, where the literal is assumed."""
        links = (link.literal for link in self.encoding.candidates)
        chosen = [-literal for literal in links if self.solver.literal_value(literal)]
        self.solver.add_clause([-excluding, *chosen])


class _Agenda:
    """Which bound is next: larger and larger ones, and again those that took too long.

    A bound gets a share of the time left. When some have been put off, or larger ones would not
    help, those come first and the share is doubled.
    """

    def __init__(self) -> None:
        self._levels = deque(1 << number for number in range(_LAST_BOUND.bit_length()))
        self._put_off: list[int] = []
        self._most = _MOST_PUT_OFF
        self._is_larger_in_vain = False
        self.share = _FIRST_SHARE

    def __bool__(self) -> bool:
        return bool(self._levels or self._put_off)

    def next(self) -> int:
        if not self._levels or len(self._put_off) >= self._most or self._is_larger_in_vain:
            self._levels.extendleft(reversed(self._put_off))
            self._put_off.clear()
            self._most += 1
            self._is_larger_in_vain = False
            self.share *= 2
        return self._levels.popleft()

    def again(self, level: int) -> None:
        self._levels.appendleft(level)

    def put_off(self, level: int, *, is_larger_in_vain: bool) -> None:
        self._put_off.append(level)
        self._is_larger_in_vain = is_larger_in_vain


def finished(pausing: Pausing[T]) -> T:
    """The end of something that has all the time that it needs."""
    while True:
        try:
            next(pausing)
        except StopIteration as end:
            value: T = end.value
            return value


class _Deepening:
    """Rounds with larger and larger bounds, until one has the answer."""

    def __init__(
        self,
        begin: Callable[[Bounds], _Round],
        deadline: float | None,
        progress: Progress | None,
        known: Known | None,
    ) -> None:
        self._begin = begin
        self._deadline = deadline
        self._progress = progress
        self._known = known or (lambda: ())
        # Of the next level, if it has not been put off.
        self._bounds = Bounds.same(1, Hints.of(self._known()))
        self._agenda = _Agenda()
        self._paused: dict[int, _Round] = {}
        self._best: BoundOutcome | None = None  # nothing was found with the largest bound so far
        # Some executions have no verdict: there is no proof any more, but perhaps a violation.
        self._without_proof: BoundOutcome | None = None

    def run(self) -> BoundOutcome:
        while self._agenda:
            level = self._agenda.next()
            if self._best is not None and level <= self._best.level:
                self._paused.pop(level, None)
                continue
            answer = self._try(level)
            if answer is not None:
                return answer
        assert self._best is not None
        return self._best

    def _try(self, level: int) -> BoundOutcome | None:
        """The answer, if this level has one; else what comes next is on the agenda."""
        limit = self._time_limit()
        self._prepare_bounds(level)
        round_ = self._paused.pop(level, None) or self._begin(self._bounds)
        outcome = round_.run(limit)
        outcome.statistics = replace(outcome.statistics)
        is_late = self._deadline is not None and time.monotonic() >= self._deadline
        if outcome.is_out_of_time and not is_late:
            if round_.is_unrolled and len(self._paused) < _MOST_PAUSED:
                self._paused[level] = round_
            in_vain = not round_.is_unrolled or round_.is_whole
            self._agenda.put_off(level, is_larger_in_vain=in_vain)
            return None
        beyond = outcome.exceeded or outcome.may_be_violated_beyond
        if not beyond:
            if self._without_proof is not None and outcome.answer is not Answer.VIOLATED:
                return self._without_proof
            # What was shown with a smaller bound says more than that the time is up.
            return self._best if self._best is not None and outcome.is_out_of_time else outcome
        self._bounds = round_.bounds.raise_(beyond)
        if outcome.may_be_violated_beyond:
            self._without_proof = replace(outcome, may_be_violated_beyond=frozenset())
        if self._bounds.level == level:
            self._agenda.again(level)
            return None
        self._best = self._without_proof or outcome
        if self._progress is not None and self._without_proof is None:
            self._progress(outcome)
        return None

    def _time_limit(self) -> float:
        started, share = time.monotonic(), self._agenda.share
        if self._deadline is None:
            return started + _MOST_SECONDS * share
        return min(
            self._deadline, started + max(_LEAST_SECONDS, (self._deadline - started) * share)
        )

    def _prepare_bounds(self, level: int) -> None:
        bounds, hints = self._bounds, Hints.of(self._known())
        if bounds.level != level:
            # What executions of a level that was put off exceed is not known.
            open_arrays = bounds.open_arrays
            bounds = replace(bounds, level=level) if bounds.raised else Bounds.same(level, hints)
            bounds = replace(bounds, open_arrays=open_arrays)
        self._bounds = replace(bounds, hints=hints)


class _Round:
    """One bound. When the time is up it can go on later, with all that the solver has learned."""

    def __init__(
        self,
        program: Program,
        bounds: Bounds,
        settings: Settings,
        statistics: Statistics,
        confirm: Confirm | None,
        doing: Doing | None,
    ) -> None:
        self._doing = doing
        self._next_news = 0.0
        self._accepts = confirm or (lambda _: "")
        self._can_confirm = confirm is not None
        self._program = program
        self.bounds = bounds
        self._deadline: float | None = None
        self._settings = settings
        self._statistics = statistics
        self._formula: _Formula | None = None
        self._search_for_answer = self._answer()

    def run(self, deadline: float | None) -> BoundOutcome:
        outcome = self._outcome(deadline)
        outcome.level = self.bounds.level
        return outcome

    def _outcome(self, deadline: float | None) -> BoundOutcome:
        statistics = self._statistics
        statistics.bound = self.bounds.level
        statistics.variables = statistics.clauses = 0  # of this bound, nothing is known yet
        self._deadline = deadline
        if self._formula is not None:
            self._count(self._formula)
            self._begins(Phase.SOLVING)
        try:
            next(self._search_for_answer)
        except StopIteration as end:
            outcome: BoundOutcome = end.value
            return outcome
        except UnsupportedCode as error:
            found = error.diagnostic
            place = f" ({found.file}:{found.line}:{found.column})" if found.file else ""
            reason = f"unsupported: {found.message}{place}"
            return BoundOutcome(Answer.UNKNOWN, reason, statistics)
        except OutOfTime:
            self._search_for_answer = self._answer()
            self._formula = None
        reason = f"time is up with {self.bounds.level} loop rounds"
        return BoundOutcome(Answer.UNKNOWN, reason, statistics, is_out_of_time=True)

    @property
    def is_unrolled(self) -> bool:
        return self._formula is not None

    @property
    def is_whole(self) -> bool:
        """Whether larger bounds give the same formula."""
        return self._formula is not None and not self._formula.learned.unrolling.cuts

    def _begins(self, phase: Phase) -> None:
        if self._doing is not None:
            self._next_news = time.monotonic() + _NEWS_PERIOD
            self._doing(phase, self._statistics)

    def _goes_on(self, phase: Phase) -> None:
        """Like `_begins`, but not too often."""
        if self._doing is not None and time.monotonic() >= self._next_news:
            self._begins(phase)

    def _confirm(self, found: Counterexample) -> str:
        objection = self._accepts(found)
        self._next_news = 0.0  # what goes on now is solving again
        return objection

    def _answer(self) -> Pausing[BoundOutcome]:
        self._begins(Phase.UNROLLING)
        started = time.monotonic()
        terms = Terms()
        if self._settings.finds_deadlocks:
            learned = unroll_for_deadlocks(self._program, terms, self.bounds, self._deadline)
        else:
            learned = unroll(
                self._program,
                terms,
                self.bounds,
                self._deadline,
                self._settings.finds_races,
                self._settings.checks_memory,
                self._settings.checks_lives,
                self._settings.assumes_defined,
                self._settings.memory_model,
            )
        unrolling, statistics = learned.unrolling, self._statistics
        if self._settings.assumes_defined:
            # The path of each ends where the claim is: without it, that is all that is known.
            unrolling.troubles = [item for item in unrolling.troubles if item.what != _UNDEFINED]
        statistics.unrolling += time.monotonic() - started
        with ExitStack() as stack:
            self._begins(Phase.ENCODING)
            formula = self._formula = self._encoded(learned, stack)
            self._count(formula)
            self._begins(Phase.SOLVING)
            for claims in (unrolling.violations, unrolling.leaks):
                found = yield from self._violation(formula, claims)
                if found is not None:
                    return found
                if self._doubtful:
                    is_leak = claims is unrolling.leaks
                    reason = _NOT_FREED if is_leak else self._doubtful
                    return BoundOutcome(Answer.UNKNOWN, reason, statistics)
            found = yield from self._suspicion(formula)
            if found is not None:
                return found
            found = yield from self._undefined(formula)
            if found is not None:
                return found
            trouble = yield from self._search(formula, unrolling.troubles)
            if trouble is not None:
                place = self._program.user_place(trouble.shown or trouble.origin)
                reason = f"{trouble.what}: {trouble.message} ({place})"
                beyond: frozenset[Key] = frozenset()
                if self.bounds.level < _MOST_WITHOUT_PROOF:
                    beyond = yield from self._exceeded(formula)
                return BoundOutcome(
                    Answer.UNKNOWN, reason, statistics, may_be_violated_beyond=beyond
                )
            exceeded = yield from self._exceeded(formula)
            if exceeded:
                reason = f"no violation with up to {self.bounds.level} loop rounds"
                return BoundOutcome(Answer.UNKNOWN, reason, statistics, exceeded=exceeded)
            return self._holds(learned)

    def _holds(self, learned: Learned) -> BoundOutcome:
        doubt = _other_machine(learned)
        if doubt:
            return BoundOutcome(Answer.UNKNOWN, doubt, self._statistics)
        return BoundOutcome(Answer.HOLDS, "all executions are within the bound", self._statistics)

    def _encoded(
        self, learned: Learned, stack: ExitStack, *, with_schedules: bool = False
    ) -> _Formula:
        started = time.monotonic()
        solver = stack.enter_context(Solver(learned.terms))
        encoder = self._encoder(learned, solver, with_schedules)
        encoding = encoder.encode()
        structure = encoding.structure
        baseline: Monolithic | Cores | None = None
        propagator: OrderPropagator | None = None
        if self._settings.encoding is OrderEncoding.MONOLITHIC:
            baseline = Monolithic(structure, solver, self._deadline)
        elif self._settings.refinement is Refinement.CORES:
            second = stack.enter_context(Solver(Terms(), CORE_SOLVER))
            baseline = Cores(structure, second, self._deadline)
        elif self._settings.refinement is Refinement.PROPAGATOR and structure.literals:
            # Before the solver is used: later its variables may be gone.
            propagator = OrderPropagator(EventOrderGraph(structure))
            solver.connect_propagator(propagator, propagator.observed())
        graph = EventOrderGraph(structure)
        self._statistics.encoding += time.monotonic() - started
        return _Formula(learned, encoder, encoding, graph, solver, propagator, baseline)

    def _encoder(self, learned: Learned, solver: Solver, with_schedules: bool) -> Encoder:
        model = self._settings.memory_model
        if model is MemoryModel.SC:
            return Encoder(learned, solver, self._settings.finds_races, with_schedules)
        if TABLE[model].has_axioms:
            return AxiomEncoder(learned, solver, self._program, self._settings.race_is)
        return BufferEncoder(learned, solver, model)

    _doubtful = ""

    def _violation(self, formula: _Formula, claims: list[Claim]) -> Pausing[BoundOutcome | None]:
        """A violation that `confirm` accepts. First one in an execution without undefined
        behaviour in which nobody reaches the loop bound: such a thread might stop at a place
        where it cannot. If there is none, one in any execution, which may not replay."""
        unrolling = formula.learned.unrolling
        quiet = formula.encoder.none_of([*unrolling.troubles, *unrolling.cuts])
        excluding = formula.solver.new_literal()
        stages = [[excluding]] if quiet is None else [[excluding, quiet], [excluding]]
        failures = 0
        if self._is_hard(formula, claims, stages[0]):
            found = yield from self._simple_violation(formula.learned, claims)
            if found is not None:
                return found
        for assumed in stages:
            while failures < _MOST_FAILURES:
                claim = yield from self._search(formula, claims, assumed)
                if claim is None:
                    break
                example = self._counterexample(formula, claim)
                self._doubtful = self._confirm(example)
                if not self._doubtful:
                    return self._violated(example)
                formula.exclude(excluding)
                failures += 1
        return None

    def _violated(self, example: Counterexample) -> BoundOutcome:
        return BoundOutcome(Answer.VIOLATED, example.message, self._statistics, example)

    def _is_hard(self, formula: _Formula, claims: list[Claim], assumed: list[int]) -> bool:
        """Whether the solver takes long to say if there are such executions."""
        wanted = formula.encoder.any_of(claims)
        is_weak = self._settings.memory_model is not MemoryModel.SC
        if wanted is None or formula.propagator is None or self._settings.finds_races or is_weak:
            return False
        started = time.monotonic()
        answer = formula.solver.solve(
            [wanted, *assumed], conflicts=_FEW_CONFLICTS, deadline=self._deadline
        )
        self._statistics.solving += time.monotonic() - started
        return answer is None

    def _simple_violation(
        self, learned: Learned, claims: list[Claim]
    ) -> Pausing[BoundOutcome | None]:
        """A violation in one of a few schedules that `confirm` accepts; that there is none means
        nothing."""
        with ExitStack() as stack:
            formula = self._encoded(learned, stack, with_schedules=True)
            for schedule in formula.encoding.schedules:
                claim = yield from self._search(formula, claims, [schedule])
                if claim is not None:
                    example = self._counterexample(formula, claim)
                    if not self._confirm(example):
                        return self._violated(example)
        return None

    def _suspicion(self, formula: _Formula) -> Pausing[BoundOutcome | None]:
        """One of a few suspicions that `confirm` accepts; that it does not means nothing."""
        if not self._can_confirm:
            return None
        excluding = formula.solver.new_literal()
        for _ in range(_MOST_SUSPICIONS):
            claims = formula.learned.unrolling.suspicions
            found = yield from self._search(formula, claims, [excluding])
            if found is None:
                return None
            example = self._counterexample(formula, found)
            if not self._confirm(example):
                return self._violated(example)
            formula.exclude(excluding)
        return None

    def _undefined(self, formula: _Formula) -> Pausing[BoundOutcome | None]:
        """Undefined behaviour that `confirm` accepts as a violation. Where it does not, there is no
        verdict, but it has seen what happens."""
        claims = [claim for claim in formula.learned.unrolling.troubles if claim.what == _UNDEFINED]
        if not self._can_confirm:
            return None
        excluding = formula.solver.new_literal()
        for _ in range(_MOST_SUSPICIONS):
            claim = yield from self._search(formula, claims, [excluding])
            if claim is None:
                return None
            example = replace(self._counterexample(formula, claim), is_undefined=True)
            if not self._confirm(example):
                return self._violated(example)
            formula.exclude(excluding)
        return None

    def _exceeded(self, formula: _Formula) -> Pausing[frozenset[Key]]:
        """All bounds that some execution exceeds."""
        exceeded: set[Key] = set()
        cuts = formula.learned.unrolling.cuts
        while True:
            cuts = [claim for claim in cuts if claim.exceeded not in exceeded]
            found = yield from self._search(formula, cuts)
            if found is None:
                return frozenset(exceeded)
            assert found.exceeded is not None
            exceeded.add(found.exceeded)

    def _count(self, formula: _Formula) -> None:
        numbers = self._statistics
        events = formula.learned.unrolling.events
        numbers.threads = len(formula.learned.unrolling.threads)
        numbers.events = len(events)
        numbers.reads = sum(item.kind is Access.READ for item in events)
        numbers.writes = sum(item.kind is Access.WRITE for item in events)
        numbers.links = len(formula.encoding.candidates)
        numbers.variables = formula.solver.gates.variables
        numbers.clauses = formula.solver.gates.clauses

    def _search(
        self, formula: _Formula, claims: list[Claim], assumed: list[int] | None = None
    ) -> Pausing[Claim | None]:
        """A claim that some execution meets; then the solver has its model."""
        wanted = formula.encoder.any_of(claims)
        if wanted is None:
            return None
        solver, structure = formula.solver, formula.encoding.structure
        assumptions = [wanted, *(assumed or ())]
        statistics = self._statistics
        while True:
            self._goes_on(Phase.SOLVING)
            started = time.monotonic()
            answer = solver.solve(assumptions, deadline=self._deadline)
            statistics.solving += time.monotonic() - started
            if formula.propagator is not None:
                statistics.propagations += formula.propagator.refutations
                formula.propagator.refutations = 0
            if answer is None:
                yield
                continue
            if not answer:
                return None
            started = time.monotonic()
            true = [literal for literal in structure.literals if solver.literal_value(literal)]
            decided = self._decide(formula, true)
            if isinstance(decided, Feasible):
                self._schedule = decided.schedule
                statistics.graph += time.monotonic() - started
                return next(claim for claim in claims if solver.model_value(claim.condition))
            for reason in decided:
                solver.add_clause([-literal for literal in reason])
            statistics.add_reasons(decided)
            statistics.graph += time.monotonic() - started
            if self._deadline is not None and time.monotonic() > self._deadline:
                yield

    def _decide(self, formula: _Formula, true: list[int]) -> Feasible | list[frozenset[int]]:
        """A schedule in which these literals hold, or reasons why there is none."""
        graph, baseline = formula.graph, formula.baseline
        if baseline is None and self._settings.refinement is Refinement.KERNEL:
            if not graph.validate(true):
                return kernel_reasons_of(graph)
        elif baseline is None:
            reasons = [*graph.reasons(true), *formula.encoder.reasons()]
            reasons = [reason - {0} for reason in reasons]
            if reasons:
                return reasons
        self._statistics.exact_checks += 1
        decided = decide_on(graph) if baseline is None else baseline.decide(true)
        return decided if isinstance(decided, Feasible) else [decided.reason]

    _schedule: tuple[int, ...] = ()

    def _access_order(self, formula: _Formula, claim: Claim) -> list[int]:
        """The threads of the accesses."""
        unrolling, solver = formula.learned.unrolling, formula.solver

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
        return threads

    def _order(self, formula: _Formula, claim: Claim) -> AccessOrder | WeakOrder:
        unrolling, solver = formula.learned.unrolling, formula.solver
        children: dict[int, list[int]] = {}
        for thread in unrolling.threads:
            if thread.parent > 0 and solver.model_value(thread.guard):
                children.setdefault(thread.parent, []).append(thread.number)
        shares = formula.learned.objects.shares
        if self._settings.memory_model is MemoryModel.SC:
            return AccessOrder(self._access_order(formula, claim), children, shares)
        moves = formula.encoder.moves(self._schedule)
        return WeakOrder(moves, children, shares)

    def _counterexample(self, formula: _Formula, claim: Claim) -> Counterexample:
        unrolling, solver = formula.learned.unrolling, formula.solver
        inputs: dict[int, list[tuple[str, int]]] = {}
        for use in unrolling.inputs:
            if solver.model_value(use.guard):
                value = _signed(use, solver.model_value(use.term))
                inputs.setdefault(use.thread, []).append((use.name, value))
        race = claim.race if self._settings.finds_races else None
        return Counterexample(
            self._order(formula, claim),
            inputs,
            claim.thread,
            claim.message,
            claim.origin,
            None if race is None else (claim.thread, unrolling.events[race[1]].thread),
            lambda: self._excuse(formula.learned, claim, inputs),
            unset=self._unset_values(formula),
        )

    def _unset_values(self, formula: _Formula) -> UnsetValues:
        """What was read of the initial contents of objects that have none, and what else was not
        set; each thread makes its objects in the order in which they were unrolled."""
        solver, unrolling = formula.solver, formula.learned.unrolling
        objects = formula.learned.objects
        parts: dict[int, dict[tuple[int, int, int], None]] = {}  # by the objects' addresses
        for part in unrolling.unset_bytes.values():
            instance = objects.at(part[0], part[1])
            if instance is not None:
                parts.setdefault(instance.address, {})[part] = None
        found = UnsetValues()

        def put(unset: Unset, begin: int) -> None:
            for address, size, variable in parts.get(begin, ()):
                found.put(unset, address - begin, size, solver.model_value(variable))

        for item in self._program.objects:
            if item.indeterminate:
                put(of_static(item), item.page << self._program.data_model.page_bits)
        for use in unrolling.unset:
            if not solver.model_value(use.guard):
                continue
            if use.value is None:
                if solver.model_value(use.size):
                    put(found.begin(use.thread, use.maker), use.address)
                continue
            size = (formula.learned.terms.width[use.value] + 7) // 8
            unset = found.begin(use.thread, use.maker)
            found.put(unset, 0, size, solver.model_value(use.value))
        return found

    def _excuse(
        self, learned: Learned, claim: Claim, inputs: dict[int, list[tuple[str, int]]]
    ) -> str:
        """Why a replay may come to nothing without a mistake."""
        unrolling = learned.unrolling
        if any(item is claim for item in unrolling.suspicions):
            return _OPEN
        if any(item is claim for item in unrolling.leaks):
            return _NOT_FREED
        if any(name == NAN_BITS for rows in inputs.values() for name, _ in rows):
            return f"{OPEN_NAN} ({self._program.user_place(claim.shown or claim.origin)})"
        if TABLE[self._settings.memory_model].has_axioms and self._settings.race_is is None:
            return _MAY_RACE
        return _other_machine(learned)


def _other_machine(learned: Learned) -> str:
    """Why what is found here may not hold in the reference interpreter, or the other way round;
    empty if it does."""
    points_to, threads = learned.objects.points_to, learned.unrolling.threads
    return other_addresses(points_to) or other_numbers(points_to, threads, learned.terms)


def _signed(use: InputUse, value: int) -> int:
    return use.type.wrap(value)
