"""The loop of a hunt: run, look at what came out, show failures again, until it is enough."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from plait.data import dataclass, field
from plait.hunt.confirm import Failure, confirm, confirm_race, identity, show
from plait.hunt.coverage import Coverage
from plait.hunt.dpor import Dpor
from plait.hunt.policies import Pct, Random
from plait.hunt.predict import LONGEST, Reorderings
from plait.hunt.run import Run, Runner
from plait.hunt.schedule import Schedule
from plait.hunt.trace import Trace

ENGINES = ("auto", "dpor", "fusion", "pct", "random")
_MOST_TRIES = 3  # to show one suspicion
_MOST_USELESS = 50  # runs in a row whose predictions come to nothing
_HOPELESS = ("unsupported", "none")


class Engine(Protocol):
    name: str
    is_done: bool

    def next_run(self, runner: Runner) -> Run | None: ...
    def left(self) -> int: ...
    def save(self) -> dict[str, Any]: ...
    def load(self, data: dict[str, Any]) -> None: ...


@dataclass(slots=True, frozen=True)
class Plan:
    engine: str
    seconds: float
    runs: int | None
    times: int
    seed: int
    depth: int
    is_for_all: bool  # go on after the first failure
    is_predicting: bool = True


@dataclass(slots=True, eq=False)
class Found:
    """What a hunt has come to, at any moment."""

    seconds: float = 0.0
    runs: int = 0
    operations: int = 0
    coverage: Coverage = field(default_factory=Coverage)
    suspects: set[tuple[int, int]] = field(default_factory=set)
    failures: list[Failure] = field(default_factory=list)
    predicted: int = 0  # schedules that were tried because of other runs
    unshown: list[str] = field(default_factory=list)
    endings: dict[str, str] = field(default_factory=dict)  # how runs ended early, with an example
    reason: str = ""
    is_complete: bool = False
    left: int = 0
    gaps: tuple[str, ...] = ()
    bound: str = ""
    coverage_notes: tuple[str, ...] = ()  # what a search says about how it has gone on


def engines_of(plan: Plan, unseen: Iterable[str]) -> list[Engine]:
    dpor, pct = Dpor(unseen), Pct(plan.seed, plan.depth)
    every: dict[str, list[Engine]] = {
        "dpor": [dpor],
        "pct": [pct],
        "random": [Random(plan.seed)],
        "auto": [dpor, Random(plan.seed), dpor, pct],
    }
    return every[plan.engine]


class Search:
    def __init__(
        self,
        runner: Runner,
        plan: Plan,
        engines: Sequence[Engine],
        progress: Callable[[Found], None],
    ) -> None:
        self.found = Found()
        self._runner = runner
        self._plan = plan
        self._engines = list(engines)
        self._progress = progress
        self._tries: dict[tuple[object, ...], int] = {}
        self._useless_predictions = 0
        self._known: set[str] = set()
        self._began = time.monotonic()

    def try_again(self, schedules: Iterable[Schedule]) -> None:
        """Failures of earlier hunts: are they still there?"""
        for schedule in schedules:
            run = self._runner.run(schedule)
            if run.is_failure and identity(run.detail) not in self._known:
                failure = show(self._runner, schedule, run.detail, self._plan.times)
                if failure is not None:
                    self._keep(failure)
        self._count()

    def go(self) -> Found:
        """Ctrl-C ends it with what was found."""
        found = self.found
        try:
            found.reason = self._go()
        except KeyboardInterrupt:
            found.reason = "interrupted"
        self._count()
        dpor = next((item for item in self._engines if isinstance(item, Dpor)), None)
        if dpor is not None:
            found.left, found.gaps = dpor.left(), tuple(sorted(dpor.gaps))
            found.coverage_notes = dpor.notes()
            found.is_complete = dpor.is_done and not dpor.gaps and not found.unshown
        for item in self._engines:
            if isinstance(item, Pct) and item.has_run:
                found.bound = item.bound()
        return found

    def _go(self) -> str:
        turn = 0
        while self._plan.is_for_all or not self.found.failures:
            if self._engines[turn % len(self._engines)].is_done:
                return "nothing is left"
            if self._seconds() > self._plan.seconds:
                return f"time limit of {self._plan.seconds:g} s"
            if self._plan.runs is not None and self.found.runs >= self._plan.runs:
                return f"limit of {self._plan.runs} runs"
            run = self._engines[turn % len(self._engines)].next_run(self._runner)
            turn += 1
            if run is None:
                continue
            self._look_at(run)
            self._progress(self.found)
            if run.how in _HOPELESS:
                return run.detail
            if run.how == "endless" and self.found.runs >= 3 and not self.found.coverage.ends:
                return "no run comes to its end"
        return "a failure was shown"

    def _seconds(self) -> float:
        return time.monotonic() - self._began

    def _count(self) -> None:
        self.found.seconds = self._seconds()
        self.found.runs = self._runner.runs
        self.found.operations = self._runner.operations

    def _look_at(self, run: Run) -> None:
        self._count()
        found = self.found
        if run.trace is not None:
            found.coverage.add(run.trace)
        if run.how in ("ended", "failed"):
            found.coverage.ends += 1
        elif run.how not in ("redundant", "other-failure"):
            found.endings.setdefault(run.how, run.detail)
        if run.is_failure and identity(run.detail) not in self._known:
            self._show(run)
        if run.trace is not None and "no-data-race" in self._runner.program.properties:
            self._show_races(run)
        if run.trace is not None and self._plan.is_predicting:
            self._predict(run.trace)
        self._count()

    def _predict(self, trace: Trace) -> None:
        """Try the schedules that a run says are worth it, while it says anything new."""
        if trace.count > LONGEST or self._useless_predictions >= _MOST_USELESS:
            return
        tried = shown = 0
        for item in Reorderings(trace).predictions():
            if item.violated not in self._runner.program.properties:
                continue
            if self._tries.get(item.key, 0) >= _MOST_TRIES:
                continue
            self._tries[item.key] = self._tries.get(item.key, 0) + 1
            tried += 1
            self.found.predicted += 1
            run = self._runner.run(item.schedule)
            if not run.is_failure or run.violated != item.violated:
                continue
            failure = show(self._runner, item.schedule, run.detail, self._plan.times)
            if failure is not None:
                shown += 1
                self._tries[item.key] = _MOST_TRIES
                self._keep(failure)
        self._useless_predictions = 0 if shown else self._useless_predictions + 1

    def _show(self, run: Run) -> None:
        failure = confirm(self._runner, run, self._plan.times)
        if failure is None:
            text = f"{run.detail} (seen once, but not in every run of its schedule)"
            if text not in self.found.unshown:
                self.found.unshown.append(text)
            return
        self._keep(failure)

    def _show_races(self, run: Run) -> None:
        assert run.trace is not None
        for suspect in run.trace.suspects:
            pair = (
                min(suspect.first_pc, suspect.second_pc),
                max(suspect.first_pc, suspect.second_pc),
            )
            self.found.suspects.add(pair)
            if self._tries.get(pair, 0) >= _MOST_TRIES:
                continue
            self._tries[pair] = self._tries.get(pair, 0) + 1
            failure = confirm_race(self._runner, run.trace, suspect, self._plan.times)
            if failure is not None:
                self._tries[pair] = _MOST_TRIES
                self._keep(failure)

    def _keep(self, failure: Failure) -> None:
        if failure.identity not in self._known:
            self._known.add(failure.identity)
            self.found.failures.append(failure)
