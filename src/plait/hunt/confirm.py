"""A failure counts when the binary has shown it again, from its schedule, every time."""

from __future__ import annotations

import re
from collections.abc import Callable

from plait.data import dataclass
from plait.hunt.dependence import Access, accesses, conflict, granules
from plait.hunt.run import Run, Runner
from plait.hunt.schedule import Decision, Pick, Schedule, Step
from plait.hunt.trace import CHOICE, PENDING, READ, UPDATE, WRITE, Operation, Suspect, Trace

_LONGEST = 400_000  # records that are looked through for the schedule of a race
_THREAD = re.compile(r"\bthread \d+")


@dataclass(slots=True, frozen=True)
class Failure:
    """Shown `times` times by runs of `schedule`."""

    violated: str
    text: str
    schedule: Schedule
    times: int

    @property
    def identity(self) -> str:
        return identity(self.text)


def identity(text: str) -> str:
    """The same failure of other threads is the same failure."""
    parts = sorted(_THREAD.sub("thread", text).replace("and thread", "thread").split(", thread"))
    return " | ".join(part.removeprefix(" ").strip() for part in parts)


def confirm(runner: Runner, run: Run, times: int) -> Failure | None:
    """The failure of a run, if every run of its schedule has it."""
    if run.trace is None:
        return None
    return show(runner, Schedule(tuple(run.trace.decisions())), run.detail, times)


def show(runner: Runner, schedule: Schedule, text: str, times: int) -> Failure | None:
    wanted = text
    for _ in range(times):
        run = runner.run(schedule)
        if not run.is_failure or run.detail != wanted:
            return None
    return Failure(wanted.partition(":")[0], wanted, schedule, times)


def confirm_race(runner: Runner, trace: Trace, suspect: Suspect, times: int) -> Failure | None:
    """Two accesses that nothing orders, if a run can be made to stand before both."""
    if suspect.second > _LONGEST:
        return None
    for is_strict in (True, False):
        schedule = race_schedule(trace, suspect, is_strict=is_strict)
        if schedule is None:
            continue
        run = runner.run(schedule)
        if run.is_failure and run.violated == "no-data-race":
            return show(runner, schedule, run.detail, times)
    return None


def race_schedule(trace: Trace, suspect: Suspect, *, is_strict: bool) -> Schedule | None:
    """The steps of the run up to the first access, and then those up to the second one that do not
    depend on the first. Without `is_strict` only locks and the like count as dependence."""
    decisions: list[Decision] = []
    later = _Later()
    first: Operation | None = None
    left_out = False
    for operation in trace:
        if operation.number == suspect.first:
            first = operation
            if not operation.is_step:
                return None
            later.add(operation)
            left_out = True
        elif operation.number == suspect.second:
            if first is None or not operation.is_step or operation.thread in later.threads:
                return None
            return Schedule(tuple(decisions), (), (first.thread, operation.thread))
        elif operation.kind == CHOICE:
            if not left_out:
                decisions.append(Pick(operation.value or 0))
        elif operation.kind != PENDING:
            if operation.is_step:
                left_out = first is not None and later.has(operation, is_strict=is_strict)
            elif left_out:
                later.add(operation)
            if operation.is_step and left_out:
                later.add(operation)
            elif operation.is_step:
                decisions.append(Step(operation.thread))
    return None


class _Later:
    """Steps that have to come after a certain one."""

    def __init__(self) -> None:
        self.threads: set[int] = set()
        self._touched: dict[int, list[Access]] = {}
        self._created: set[int] = set()

    def add(self, operation: Operation) -> None:
        self.threads.add(operation.thread)
        self._created.add(operation.number)
        for access in accesses(operation):
            for granule in granules(access):
                self._touched.setdefault(granule, []).append(access)

    def has(self, operation: Operation, *, is_strict: bool) -> bool:
        if operation.thread in self.threads:
            return True
        if operation.name == "start" and (operation.value or 0) - 1 in self._created:
            return True
        is_data = operation.kind in (READ, WRITE, UPDATE) and not operation.is_atomic
        if is_data and not is_strict:
            return False
        return any(
            conflict(access, other)
            for access in accesses(operation)
            for granule in granules(access)
            for other in self._touched.get(granule, ())
        )


def minimized(
    runner: Runner, failure: Failure, most_runs: int, progress: Callable[[], None]
) -> Failure:
    """The same failure with fewer context switches: parts of two threads change places where that
    puts parts of one thread together."""
    best, runs = failure, 0
    is_better = True
    while is_better and runs < most_runs:
        is_better = False
        for candidate in _joined(best.schedule):
            if runs >= most_runs:
                break
            runs += 1
            progress()
            run = runner.run(candidate)
            if not run.is_failure or identity(run.detail) != failure.identity or run.trace is None:
                continue
            whole = Schedule(tuple(run.trace.decisions()), (), candidate.racers)
            if whole.switches >= best.schedule.switches:
                continue
            shown = show(runner, whole, run.detail, 2)
            if shown is not None:
                best, is_better = shown, True
                break
    return best


def _joined(schedule: Schedule) -> list[Schedule]:
    parts: list[list[Decision]] = []
    owners: list[int] = []
    for item in schedule.decisions:
        if isinstance(item, Step) and (not owners or item.thread != owners[-1]):
            parts.append([])
            owners.append(item.thread)
        if parts:
            parts[-1].append(item)
    found: list[Schedule] = []
    for at in range(len(parts) - 2, -1, -1):
        later = next((i for i in range(at + 2, len(parts)) if owners[i] == owners[at]), None)
        if later is None:
            continue
        between = parts[at + 1 : later]
        # The later part comes at once, or the earlier one waits for it.
        for order in ([parts[at], parts[later], *between], [*between, parts[at], parts[later]]):
            decisions = [*parts[:at], *order, *parts[later + 1 :]]
            flat = tuple(item for part in decisions for item in part)
            found.append(Schedule(flat, (), schedule.racers))
    return found
