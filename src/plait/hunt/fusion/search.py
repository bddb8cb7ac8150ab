"""The enumeration that checks and prunes (section 3 and figure 3 of the Fusion paper).

It is the search of `dpor`, with its sleep sets. Behind each run its concurrent trace program is
checked: a violation in another order of its steps gives a schedule, which counts once the program
has failed under it. Then its abstraction tells which backtrack points need not be followed, because
nothing can go wrong in any execution that begins like that (Theorem 3).

Backtrack points are found by comparing the steps of runs that were made. Where a subtree is pruned
there are no runs that would show which earlier steps it conflicts with; so at each earlier step
that anything in the abstraction may conflict with, all threads are to be tried (the paper's
algorithm tries all threads everywhere). Sleep sets stay right: what was pruned has no violation,
and neither has what is equal to it up to the order of independent steps.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence

from plait.data import dataclass
from plait.hunt.dependence import transitions
from plait.hunt.dpor import Dpor
from plait.hunt.fusion.executed import Followed, NotFollowed
from plait.hunt.fusion.following import follow
from plait.hunt.fusion.formula import (
    TraceAbstraction,
    TraceProgram,
    Violation,
    clauses_needed,
)
from plait.hunt.fusion.paths import Paths
from plait.hunt.fusion.source import Source
from plait.hunt.fusion.untaken import UntakenBranches
from plait.hunt.fusion.walk import make_paths
from plait.hunt.run import Run, Runner
from plait.hunt.schedule import Schedule, Step
from plait.hunt.trace import Trace

# What the formulas say something about.
PRUNED_PROPERTIES = frozenset({"assertions", "unreach-call", "abort", "crash"})
# What violations of trace programs are called, and what the runtime calls that.
_ASKED_AS = {
    "assertions": frozenset({"assertions", "unreach-call", "abort"}),
    "valid-access": frozenset({"valid-deref", "valid-free"}),
}
_CHECK_SECONDS = 20.0
_PRUNE_SECONDS = 5.0
_MOST_KEPT = 12  # abstractions of runs
_LONGEST = 2000  # steps of a run
_MOST_CLAUSES = 400_000


@dataclass(slots=True, eq=False)
class _Abstracted:
    """A run with its abstraction. `chosen` are the threads of its steps."""

    chosen: list[int]
    paths: Paths
    abstraction: TraceAbstraction


class Fusion(Dpor):
    """`source` is the model of the program, or the reason why there is none; `lines` are those of
    the source, by the place in the program; the hunt ends after so many `seconds`."""

    name = "fusion"

    def __init__(
        self,
        unseen: Iterable[str],
        source: Source | str,
        lines: Mapping[int, int],
        seconds: float = 3600.0,
    ) -> None:
        super().__init__(unseen)
        self._end = time.monotonic() + seconds  # of the hunt, as far as it is known
        self.pruned = 0
        self.predicted = 0
        self.checked = 0  # runs whose trace programs were checked
        self.obstacles: set[str] = set()  # why runs were not checked, or nothing was pruned
        self._lines = lines
        self._source = source if isinstance(source, Source) else None
        if isinstance(source, str):
            self.obstacles.add(source)
        self._branches: UntakenBranches | None = None
        self._kept: list[_Abstracted] = []
        self._predictions: list[Schedule] = []
        self._is_pruning = False
        self._violated: frozenset[str] = frozenset()

    def notes(self) -> tuple[str, ...]:
        traces = self.runs - self.redundant
        said = (
            f"fusion: {traces} traces, {self.checked} of them checked in all orders,"
            f" {self.predicted} predicted failures tried, {self.pruned} backtrack points pruned"
        )
        return (said, *(f"not checked or pruned: {text}" for text in sorted(self.obstacles)))

    def next_run(self, runner: Runner) -> Run | None:
        properties = frozenset(runner.program.properties)
        self._is_pruning = properties <= PRUNED_PROPERTIES
        self._violated = frozenset(name for name, words in _ASKED_AS.items() if words & properties)
        if not self._is_pruning:
            others = ", ".join(sorted(properties - PRUNED_PROPERTIES))
            self.obstacles.add(f"nothing is pruned when looking for {others}")
        if not self._predictions:
            return super().next_run(runner)
        self.predicted += 1
        run = runner.run(self._predictions.pop())
        if not run.is_failure:
            self.gaps.add("a predicted failure did not show in the program")
        return run

    def _learn(self, run: Run, asleep: Iterable[int]) -> None:
        super()._learn(run, asleep)
        if run.how != "ended" or run.trace is None or self._source is None:
            return
        if run.trace.count > _LONGEST:
            self.obstacles.add(f"runs of more than {_LONGEST} operations are not checked")
            return
        try:
            followed = follow(
                self._source.program, self._source.specification, run.trace, self._lines
            )
            if self._branches is None:
                self._branches = UntakenBranches(self._source)
            paths = make_paths(self._source, followed, self._branches)
        except NotFollowed as error:
            self.obstacles.add(str(error))
            return
        if clauses_needed(paths) > _MOST_CLAUSES:
            self.obstacles.add("the threads of a run meet too often for a formula")
            return
        self._check(run.trace, paths)
        if self._is_pruning and not self._predictions:
            self._prune(run.trace, followed, paths)

    def _within(self, seconds: float) -> float:
        return min(time.monotonic() + seconds, self._end)

    # --- check

    def _check(self, trace: Trace, paths: Paths) -> None:
        self.checked += 1
        found = TraceProgram(paths, self._violated).violation(self._within(_CHECK_SECONDS))
        if found is not None:
            self._predictions.append(schedule_of(trace, found))

    # --- prune

    def _prune(self, trace: Trace, followed: Followed, paths: Paths) -> None:
        """CTP-PRUNE-BACKTRACKSETS: the shortest beginning of the run that is safe. Longer ones are
        safe as well."""
        done, _ = transitions(trace)
        chosen = [step.thread for step in done]
        if len(chosen) != len(self.path) or len(chosen) != followed.steps:
            return
        item = _Abstracted(chosen, paths, TraceAbstraction(paths))
        self._kept = [*self._kept[1 - _MOST_KEPT :], item]
        deadline = self._within(_PRUNE_SECONDS)
        low, high = 0, len(chosen) + 1
        while low < high:
            middle = (low + high) // 2
            is_short = middle <= len(chosen)
            if is_short and not item.abstraction.is_safe(range(middle), deadline):
                low = middle + 1
            else:
                high = middle
        if low <= len(chosen):
            self.pruned += sum(len(set(node.left()) - {node.chosen}) for node in self.path[low:])
            del self.path[low:]
            self._widen(item, range(low))

    def _advance(self) -> bool:
        while self.path:
            node = self.path[-1]
            node.done.add(node.chosen)
            for thread in node.left():
                if not node.ways and self._is_pruned(len(self.path) - 1, thread):
                    node.done.add(thread)
                    self.pruned += 1
                    continue
                node.chosen = thread
                return True
            self.path.pop()
        return False

    def _is_pruned(self, depth: int, thread: int) -> bool:
        """Whether nothing goes wrong if a thread goes on behind so many steps of the path."""
        if not self._is_pruning:
            return False
        chosen = [node.chosen for node in self.path[:depth]]
        deadline = self._within(_PRUNE_SECONDS)
        for item in reversed(self._kept):
            if item.chosen[:depth] != chosen:
                continue
            following = range(depth, len(item.chosen))
            step = next((number for number in following if item.chosen[number] == thread), None)
            if step is None:
                continue
            steps = [*range(depth), step]
            if item.abstraction.is_safe(steps, deadline):
                self._widen(item, steps)
                return True
        return False

    def _widen(self, item: _Abstracted, steps: Sequence[int]) -> None:
        """All threads are to be tried at each step of the path that something behind these steps
        may conflict with."""
        passed = set(steps)
        for number, node in enumerate(self.path[: len(steps)]):
            if not node.ways and _may_conflict(item, number, passed):
                node.backtrack |= {t for t in range(1, 64) if node.enabled >> t & 1}


def _may_conflict(item: _Abstracted, number: int, passed: set[int]) -> bool:
    """Whether another thread may, behind the steps that are passed, access what a step accesses."""
    thread, paths = item.chosen[number], item.paths
    mine = dict[int, bool]()
    for page, is_write in paths.touched.get(number, ()):
        mine[page] = mine.get(page, False) or is_write
    if not mine:
        return False
    for other, rows in paths.touched.items():
        if other in passed or item.chosen[other] == thread:
            continue
        if any(page in mine and (is_write or mine[page]) for page, is_write in rows):
            return True
    return any(
        paths.may_access(branch, page) if mine[page] else paths.may_write(branch, page)
        for path in paths.threads.values()
        for branch in path.branches
        if branch.thread != thread
        for page in mine
    )


def schedule_of(trace: Trace, violation: Violation) -> Schedule:
    """All steps that threads make up to those of a violation."""
    done, _ = transitions(trace)
    own: dict[int, list[int]] = {}
    for number, step in enumerate(done):
        own.setdefault(step.thread, []).append(number)
    made: dict[int, int] = {}
    decisions: list[Step] = []

    def make(thread: int, until: int) -> None:
        """A thread cannot go on before whoever starts it has done so."""
        for number in own[thread][made.get(thread, 0) :]:
            if number > until:
                break
            creator = done[number].creator
            if creator >= 0:
                make(done[creator].thread, creator)
            made[thread] = made.get(thread, 0) + 1
            decisions.append(Step(thread))

    for number in violation.steps:
        make(done[number].thread, number)
    return Schedule(tuple(decisions))
