"""What is around a search over blocks: what it works with, its limits, and how it ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from plait.analysis.critical_sections import BrokenLock
from plait.analysis.sharing import sharing_of
from plait.engines.blocks.limits import reused_local
from plait.engines.blocks.paths import Occurrence, Paths
from plait.engines.blocks.persistent import PersistentSets
from plait.engines.blocks.precision import FEW_PATHS, BlockPrecision
from plait.engines.blocks.sections import Sections
from plait.engines.blocks.standings import Standings
from plait.engines.description import EngineDescription
from plait.engines.interface import Answer, Counterexample, Outcome, OutOfTime, Statistics
from plait.errors import UnsupportedCode
from plait.logic.interpolation.model import Model
from plait.logic.terms import Terms
from plait.model.actions import Origin
from plait.model.program import Program
from plait.model.properties import Specification
from plait.symbolic.blocks import Kind, Way
from plait.symbolic.execute import Executor
from plait.symbolic.knowledge import Knowledge

# So many kinds of what has no verdict are shown to the interpreter: it may be undefined behaviour.
_MOST_TROUBLES_CONFIRMED = 4
_SECONDS_BETWEEN_REPORTS = 0.5

Counted = TypeVar("Counted", bound=Statistics)
Confirm = Callable[[Counterexample], str]


class Found(Exception):
    """The search is over."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.reason)
        self.outcome = outcome


class Tools:
    """The blocks of one program, and what engines ask of them. Critical sections are single steps
    if the `locks` are those of such, but for `broken_locks`."""

    def __init__(
        self,
        program: Program,
        specification: Specification,
        deadline: float | None,
        *,
        every_access: bool,
        locks: bool,
        few: bool,
        broken_locks: frozenset[int],
        most_paths: int = FEW_PATHS,
    ) -> None:
        self.program = program
        self.specification = specification
        self.deadline = deadline
        self.terms = Terms()
        sharing = sharing_of(program)
        precision = BlockPrecision(
            sharing.points_to,
            every_access=every_access,
            locks=locks,
            few=few,
            broken_locks=broken_locks,
            most_paths=most_paths,
        )
        self.knowledge = Knowledge(program, sharing, precision)
        self.executor = Executor(self.knowledge, self.terms, specification)
        self.paths = Paths(self.terms, self.executor, deadline)
        standings = Standings()
        self.sections = Sections(self.executor, self.knowledge.page_bits, standings)
        self.persistent_sets = PersistentSets(self.knowledge, self.executor, standings)


def answered(
    engine: EngineDescription,
    program: Program,
    specification: Specification,
    attempt: Callable[[frozenset[int]], Outcome],
) -> Outcome:
    """The outcome of the attempt in which nobody breaks a lock. It is made for the locks, by their
    addresses, whose critical sections are no single steps."""
    beyond = sorted({item.value for item in specification.properties} - engine.checks)
    if beyond:
        reason = f"the engine {engine.name} does not check {', '.join(beyond)}"
        return Outcome(Answer.UNKNOWN, reason)
    reused = reused_local(sharing_of(program), specification)
    if reused:
        return Outcome(Answer.UNKNOWN, reused)
    broken: set[int] = set()
    while True:
        try:
            return attempt(frozenset(broken))
        except BrokenLock as lock:
            broken.add(lock.address)


class Shell(Generic[Counted]):
    """`counted` and `size` say how far the search has come, in numbers and in words."""

    def __init__(
        self,
        tools: Tools,
        progress: Callable[[Counted, str], None] | None,
        confirm: Confirm | None,
        counted: Callable[[], Counted],
        size: Callable[[], str],
    ) -> None:
        self.troubles: dict[str, None] = {}  # executions that have no verdict
        self.set_aside: dict[str, None] = {}  # why it is open whether paths are feasible
        self._program = tools.program
        self._paths = tools.paths
        self._deadline = tools.deadline
        self._progress = progress
        self._confirm = confirm
        self._counted = counted
        self._size = size
        self._last_report = 0.0

    # --- the beginning and the end

    def run(self, search: Callable[[], Outcome]) -> Outcome:
        try:
            return search()
        except Found as found:
            return found.outcome
        except OutOfTime:
            reason = f"time is up with {self._size()}"
            return Outcome(
                Answer.UNKNOWN, reason, self._counted(), is_out_of_time=True, so_far=reason
            )
        except UnsupportedCode as error:
            return Outcome(Answer.UNKNOWN, str(error), self._counted())
        except RecursionError:
            reason = "terms, or steps that depend on each other, are nested too deeply"
            return Outcome(Answer.UNKNOWN, reason, self._counted())

    def what_is_open(self) -> Outcome | None:
        """Why a search that has come to its end proves nothing."""
        for trouble in (*self.troubles, *self.set_aside):
            return Outcome(Answer.UNKNOWN, trouble, self._counted())
        return None

    # --- limits

    def look_at_limits(self, size: int, most: int, what: str) -> bool:
        """Whether progress was reported. Ends the search if it has become too large."""
        OutOfTime.check(self._deadline)
        if size > most:
            reason = f"more than {most:,} {what}"
            raise Found(Outcome(Answer.UNKNOWN, reason, self._counted()))
        if self._progress is None:
            return False
        now = time.monotonic()
        if now - self._last_report <= _SECONDS_BETWEEN_REPORTS:
            return False
        self._last_report = now
        self._progress(self._counted(), self._size())
        return True

    # --- what the search comes to

    def put_aside(self, reason: str, origin: Origin) -> None:
        """It is not known whether a path is feasible: there will be no proof, but perhaps a
        violation on another one. A reason that is only that time is up ends the search."""
        OutOfTime.check(self._deadline)
        self.set_aside[f"{reason} ({self._program.user_place(origin)})"] = None

    def report(self, path: Sequence[Occurrence], way: Way, model: Model) -> None:
        """A path can be taken, and leads to a violation or to what has no verdict. Ends the search
        if it is confirmed."""
        is_undefined = way.kind is Kind.TROUBLE
        if is_undefined:
            place = self._program.user_place(way.origin)
            self.troubles[f"{way.message} ({place})"] = None
            if self._confirm is None or len(self.troubles) > _MOST_TROUBLES_CONFIRMED:
                return
        found = self._paths.counterexample(path, model, is_undefined=is_undefined)
        problem = self.problem_of(found)
        if not problem:
            raise Found(Outcome(Answer.VIOLATED, way.message, self._counted(), found))
        if not is_undefined:
            self.troubles[problem] = None

    def claim(self, found: Counterexample) -> None:
        """A state that violates a property. Ends the search if it is confirmed."""
        problem = self.problem_of(found)
        if not problem:
            raise Found(Outcome(Answer.VIOLATED, found.message, self._counted(), found))
        self.troubles[problem] = None

    def problem_of(self, found: Counterexample) -> str:
        """What is wrong with a counterexample."""
        return "" if self._confirm is None else self._confirm(found)
