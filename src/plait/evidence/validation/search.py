"""The search for an execution that follows a witness.

Nodes are states together with how far the witness was followed. The witness says which thread
should take the next step and which inputs it should meet; steps that do something else cost one,
and what costs least comes first (a limited-discrepancy search, Harvey and Ginsberg 1995, with
states remembered). So an execution that does what the witness says is found at once, one that
deviates in a few places soon, and if the queue runs empty there is none.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Iterator
from enum import Enum

from plait.data import dataclass, field
from plait.evidence.validation.expressions import RESULT
from plait.evidence.validation.following import Follower, Guide, Progress, always
from plait.evidence.validation.places import Places
from plait.evidence.validation.watching import Watched, WatchingMachine
from plait.evidence.witness.content import Kind, Waypoint
from plait.model.actions import Origin
from plait.model.program import Program
from plait.model.properties import Property, Specification
from plait.semantics.explore import ExploreOptions, Verdict, explore
from plait.semantics.inputs import InputDomains
from plait.semantics.outcome import (
    HAS_NO_VERDICT,
    Access,
    Ending,
    Footprint,
    InputRequest,
    StepOutcome,
)
from plait.semantics.scalars import Number
from plait.semantics.schedule import Schedule, ScheduledStep
from plait.semantics.state import State, runnable

_LOOK_AT_CLOCK_EVERY = 64
_MOST_HINTS = 8
_UNSEEN = frozenset({"assertions", "unreach-call", "no-overflow"})
_OTHERS = 2  # that a thread acts that neither was told nor runs costs this much more
_FREE_STEPS = 64  # a power of two
_MOST_INPUTS = 64  # combinations that are tried for one step
_BEHIND = ExploreOptions(max_states=20_000, max_seconds=5.0)


class Confirmation(Enum):
    CONFIRMED = "confirmed"
    REJECTED = "rejected"
    UNKNOWN = "unknown"


@dataclass(slots=True, eq=False)
class Found:
    """`schedule` is that of a confirmed violation, and `message` says what it violates."""

    answer: Confirmation
    reason: str = ""
    schedule: Schedule | None = None
    kind: str = ""
    message: str = ""
    thread: int = 0
    origin: Origin | None = None
    states: int = 0


@dataclass(slots=True, eq=False)
class _Node:
    state: State
    progress: Progress
    parent: _Node | None
    step: ScheduledStep | None
    cost: int
    idle: int = 0  # steps since a waypoint was passed
    doom: Found | None = None  # the violation that comes next, after what the others still do


Say = Callable[[int, int, int], None]  # states, waypoints that were passed, and all of them


def search(
    program: Program,
    specification: Specification,
    guide: Guide,
    watched: Watched,
    places: Places,
    *,
    max_states: int,
    deadline: float | None,
    say: Say | None = None,
) -> Found:
    machine = WatchingMachine(program, specification, watched)
    follower = Follower(guide, machine.sites)
    run = _Search(
        program, specification, guide, places, machine, follower, max_states, deadline, say
    )
    try:
        found = run.run()
    except _Over as over:
        found = over.found
    found.states = len(run.best)
    return found


class _Over(Exception):
    def __init__(self, found: Found) -> None:
        self.found = found
        super().__init__(found.reason)


@dataclass(slots=True, eq=False)
class _Search:
    program: Program
    specification: Specification
    guide: Guide
    places: Places
    machine: WatchingMachine
    follower: Follower
    max_states: int
    deadline: float | None
    say: Say | None
    best: dict[tuple[State, Progress, Found | None], int] = field(default_factory=dict)
    queue: list[tuple[int, int, int, bool, _Node]] = field(default_factory=list)
    count: int = 0
    farthest: int = 0
    gaps: dict[str, None] = field(default_factory=dict)  # why no answer is no rejection
    domains: InputDomains = field(default_factory=InputDomains)
    restored: State | None = None
    tried: int = 0
    waits: StepOutcome | None = None  # of the step that was tried last, if it cannot be taken yet

    def run(self) -> Found:
        self.machine.accesses = [] if self._finds_races else None
        self.machine.start()
        self._arrive(_Node(self.machine.state(), Progress(), None, None, 0))
        while self.queue:
            cost, _, _, prefers, node = heapq.heappop(self.queue)
            if cost > self.best[node.state, node.progress, node.doom] + (not prefers):
                continue
            if prefers:
                self._expand_as_told(node)
            else:
                self._expand_otherwise(node)
        return self._nothing()

    @property
    def _finds_races(self) -> bool:
        return Property.NO_DATA_RACE in self.specification

    @property
    def _is_about_states(self) -> bool:
        return self._finds_races or Property.NO_DEADLOCK in self.specification

    def _nothing(self) -> Found:
        for number, reason in self.machine.doubts.items():
            where = self.guide.waypoints[number].location
            self.gaps[f"the constraint at {where} cannot be evaluated: {reason}"] = None
        self.gaps.update(self.domains.gaps)
        if self.gaps:
            return Found(Confirmation.UNKNOWN, f"no execution found; {next(iter(self.gaps))}")
        waypoint = self.guide.waypoints[self.guide.follow[self.farthest][0]]
        number = self.farthest + 1
        what = "comes to a violation at" if self.farthest == self.guide.end else "passes"
        reason = (
            f"no execution that follows the witness {what} its segment {number}"
            f" ({waypoint.kind.value} at {waypoint.location})"
        )
        return Found(Confirmation.REJECTED, reason)

    # --- the queue

    def _arrive(self, node: _Node) -> None:
        key = node.state, node.progress, node.doom
        known = self.best.get(key)
        if known is not None and known <= node.cost:
            return
        self.best[key] = node.cost
        if len(self.best) > self.max_states:
            reason = f"more than {self.max_states} states{self._far()}"
            raise _Over(Found(Confirmation.UNKNOWN, reason))
        self.farthest = max(self.farthest, node.progress.position)
        self._push(node, node.cost, prefers=True)

    def _arrive_all(
        self,
        node: _Node,
        state: State,
        onward: list[Progress],
        step: ScheduledStep,
        cost: int,
    ) -> None:
        """Steps that pass nothing are free, but ever less so: a thread may run for ever. To leave
        out a waypoint that could be passed costs as well."""
        best = max((item.position for item in onward), default=0)
        for progress in onward:
            extra, idle = 0, node.idle + 1
            if progress.position > node.progress.position:
                idle = 0
            elif idle >= _FREE_STEPS and idle & (idle - 1) == 0:
                extra = 1
            extra += best - progress.position
            self._arrive(_Node(state, progress, node, step, cost + extra, idle, node.doom))

    def _push(self, node: _Node, cost: int, *, prefers: bool) -> None:
        self.count += 1
        entry = cost, -node.progress.position, -self.count, prefers, node
        heapq.heappush(self.queue, entry)

    def _far(self) -> str:
        return f"; {self.farthest} of {self.guide.end + 1} segments were followed"

    def _look_at_clock(self) -> None:
        self.tried += 1
        if self.tried % _LOOK_AT_CLOCK_EVERY:
            return
        if self.say is not None:
            self.say(len(self.best), self.farthest, self.guide.end + 1)
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise _Over(Found(Confirmation.UNKNOWN, f"time is up{self._far()}"))

    # --- steps

    def _expand_as_told(self, node: _Node) -> None:
        """The step of the thread that the witness wants to see next, or of the one that runs if
        that one has to wait, or of any if both have."""
        if self._is_about_states and node.progress.position == self.guide.end:
            self._expand_otherwise(node)
            return
        able = runnable(node.state)
        told = self._told(node)
        candidates = [number for number in (told, self._last(node)) if number in able]
        for number in dict.fromkeys(candidates):
            if self._try(node, number, node.cost, hints_only=True):
                break
        else:
            for number in able:
                if number not in candidates:
                    self._try(node, number, node.cost, hints_only=True)
        self._push(node, node.cost + 1, prefers=False)

    def _expand_otherwise(self, node: _Node) -> None:
        told, last = self._told(node), self._last(node)
        steps: dict[int, list[Footprint]] = {}
        blocked: dict[int, StepOutcome] = {}
        for number in runnable(node.state):
            footprints: list[Footprint] = []
            cost = node.cost + (number != told) + (number not in (told, last)) * _OTHERS
            self._try(node, number, cost, hints_only=False, note=footprints)
            if footprints:
                steps[number] = footprints
            elif self.waits is not None:
                blocked[number] = self.waits
        if node.progress.position == self.guide.end and node.doom is None:
            if self._finds_races:
                self._look_for_race(node, steps)
            if Property.NO_DEADLOCK in self.specification:
                self._look_for_deadlock(node, blocked)

    def _told(self, node: _Node) -> int:
        """The thread of the next waypoint. Of two targets, that of the second once the first one
        is come to."""
        progress = node.progress
        waypoints = [self.guide.waypoints[n] for n in self.guide.follow[progress.position]]
        for waypoint in waypoints:
            number = progress.thread(waypoint.thread)
            if number > 0 and not (len(waypoints) > 1 and self._stands_at(node, number, waypoint)):
                return number
        return self._last(node)

    def _stands_at(self, node: _Node, number: int, waypoint: Waypoint) -> bool:
        thread = node.state.threads[number - 1]
        if thread.code is None or not thread.code.function.edges[thread.location]:
            return False
        origin = thread.code.function.edges[thread.location][0].action.origin
        is_library = thread.code.function.library
        return not is_library and self.places.is_at(origin, waypoint.location)

    def _last(self, node: _Node) -> int:
        return 1 if node.step is None else node.step.thread

    def _try(
        self,
        node: _Node,
        number: int,
        cost: int,
        *,
        hints_only: bool,
        note: list[Footprint] | None = None,
    ) -> bool:
        """Take a thread's next step with all inputs, or with those that the witness names;
        whether it can move."""
        machine = self.machine
        self.waits = None
        moved = False
        before: list[Progress] | None = None
        pending: list[tuple[Number, ...]] = [()]
        tried = 0
        while pending:
            self._look_at_clock()
            choices = pending.pop()
            tried += 1
            self._restore(node.state)
            if before is None:
                before = self._before(node.progress, number)
            if self._finds_races:
                machine.accesses = []
            outcome = machine.watch(number, choices)
            ending = outcome.ending
            if ending is Ending.NEEDS_INPUT:
                assert outcome.input is not None
                machine.undo()
                values = list(self._values(node, outcome.input, len(choices), hints_only))
                pending += [(*choices, value) for value in reversed(values)]
                if tried > _MOST_INPUTS and len(pending) > _MOST_INPUTS:
                    self.gaps["too many combinations of inputs in one step"] = None
                    del pending[:-1]
                continue
            step = ScheduledStep(number, choices)
            following = None
            if ending is Ending.BLOCKED:
                self.waits = outcome
            elif ending is Ending.VIOLATION:
                moved = True
                self._look_at_violation(node, step, outcome, self._following(before, number))
            elif not outcome.in_section:
                moved = True
                following = machine.state()
                onward = self._following(before, number)
                if node.doom is not None:
                    self._end_in(node.doom, onward)
                if note is not None and self._finds_races:
                    note.append(machine.footprint())
                elif note is not None:
                    note.append(_NOTHING)
            machine.undo()
            if ending in HAS_NO_VERDICT:
                place = self.program.place(outcome.origin)
                self.gaps[f"{ending.value}: {outcome.message} ({place})"] = None
            if following is not None:
                self._arrive_all(node, following, onward, step, cost)
        return moved

    def _before(self, progress: Progress, number: int) -> list[Progress]:
        """When a thread is about to act, with the machine in the state before that."""
        if not self.machine.begins_visibly(number):
            return [progress]
        return self.follower.flushed(progress, number, self.machine.holds)

    def _restore(self, state: State) -> None:
        if self.restored is not state:
            self.machine.restore(state)
            self.restored = state

    def _values(
        self, node: _Node, request: InputRequest, index: int, hints_only: bool
    ) -> Iterator[Number]:
        hints = self._hints(node, request)
        first = hints[index : index + 1] or hints[:1]
        values, is_complete = self.domains.values(request)
        if hints_only:
            yield (first or values)[0]
            return
        everything = dict.fromkeys([*first, *hints, *values])
        if not is_complete:
            self.gaps[f"not all values of the input '{request.name}' were tried"] = None
        yield from everything

    def _hints(self, node: _Node, request: InputRequest) -> list[Number]:
        """The values that the next waypoints give to results of functions."""
        lowest, highest = request.type.minimum, request.type.maximum
        if request.count is not None:
            lowest, highest = 0, request.count - 1
        found: list[Number] = []
        for position in range(node.progress.position, self.guide.end):
            for number in self.guide.follow[position]:
                constraint = self.machine.watched.constraints.get(number)
                if constraint is None:
                    continue
                is_result = self.guide.waypoints[number].kind is Kind.RETURN
                if is_result and RESULT in constraint.names:
                    for value in constraint.constants:
                        found += [item for item in (value, -value) if lowest <= item <= highest][
                            :: -1 if _is_negative(self.guide.waypoints[number]) else 1
                        ]
            if len(found) >= _MOST_HINTS:
                break
        return list(dict.fromkeys(found)) if len(found) < 2 else found

    # --- following

    def _following(self, before: list[Progress], number: int) -> list[Progress]:
        """After a step, with the machine in the state that it leads to."""
        machine, follower = self.machine, self.follower
        found: list[Progress] = []
        for progress in before:
            for one in follower.after(progress, number, machine.now, always):
                for thread, moments in machine.later.items():
                    one = follower.kept(one, thread, moments)
                found += follower.settled(one, machine.holds)
        return list(dict.fromkeys(found))

    # --- the end

    def _targets(self) -> list[Waypoint]:
        return [self.guide.waypoints[number] for number in self.guide.follow[self.guide.end]]

    def _look_at_violation(
        self, node: _Node, step: ScheduledStep, outcome: StepOutcome, ways: list[Progress]
    ) -> None:
        """A check fails where nobody else can see it, so that others may act before that."""
        target = self._targets()[0]
        if len(self._targets()) > 1 or not self.places.is_at(outcome.origin, target.location):
            return
        ways = [item for item in ways if self._is_named(target, item, outcome.thread)]
        if not ways or node.doom is not None:
            return
        violation = Found(
            Confirmation.CONFIRMED,
            "",
            self._schedule(node, step),
            outcome.kind,
            outcome.message,
            outcome.thread,
            outcome.origin,
        )
        self._end_in(violation, ways)
        if outcome.kind in _UNSEEN and not outcome.in_section:
            state = self.machine.state_of_others()
            for progress in ways:
                cost = node.cost + 1
                self._arrive(_Node(state, progress, node, step, cost, 0, violation))

    def _end_in(self, violation: Found, ways: list[Progress]) -> None:
        """Nothing can happen after a violation: what its thread has passed has happened."""
        for progress in ways:
            done = self.follower.flushed(progress, violation.thread, self.machine.holds)
            if any(item.position == self.guide.end for item in done):
                raise _Over(violation)

    def _look_for_race(self, node: _Node, steps: dict[int, list[Footprint]]) -> None:
        targets = self._targets()
        one, other = targets[0], targets[-1]
        for mine, first in steps.items():
            for theirs, second in steps.items():
                if mine == theirs or not self._is_named(one, node.progress, mine):
                    continue
                if len(targets) > 1 and not self._is_named(other, node.progress, theirs):
                    continue
                for left in first:
                    for right in second:
                        at_one = self._at(left, one)
                        at_other = self._at(right, other) if len(targets) > 1 else right
                        pair = at_one.race_with(at_other)
                        if pair is not None:
                            self._confirm_race(node, mine, theirs, pair)

    def _is_named(self, waypoint: Waypoint, progress: Progress, number: int) -> bool:
        return not waypoint.thread or progress.thread(waypoint.thread) == number

    def _at(self, footprint: Footprint, target: Waypoint) -> Footprint:
        accesses = [
            item for item in footprint.racing if self.places.is_at(item.origin, target.location)
        ]
        return Footprint(self.machine.page_bits, accesses, (False, False))

    def _confirm_race(
        self, node: _Node, mine: int, theirs: int, pair: tuple[Access, Access]
    ) -> None:
        self._restore(node.state)
        name = self.machine.name_of(pair[0].address, pair[0].size)
        message = (
            f"{pair[0].kind.value} of {name} by thread {mine} at"
            f" {self.program.place(pair[0].origin)} and {pair[1].kind.value} by thread {theirs} at"
            f" {self.program.place(pair[1].origin)} at the same time"
        )
        schedule = self._schedule(node)
        found = Found(Confirmation.CONFIRMED, "", schedule, "no-data-race", message, mine)
        found.origin = pair[0].origin
        raise _Over(found)

    def _look_for_deadlock(self, node: _Node, blocked: dict[int, StepOutcome]) -> None:
        target = self._targets()[0]
        waiting = [
            (number, outcome)
            for number, outcome in blocked.items()
            if self.places.is_at(outcome.origin, target.location)
            and self._is_named(target, node.progress, number)
        ]
        if not waiting:
            return
        number, outcome = waiting[0]
        message = f"thread {number} waits for {outcome.message} for ever"
        schedule = self._schedule(node)
        if len(blocked) < len(runnable(node.state)):
            behind = explore(self.program, self.specification, _BEHIND, start=schedule)
            if behind.verdict is Verdict.UNKNOWN:
                self.gaps[f"whether a thread waits for ever: {behind.reason}"] = None
            violation = behind.violation
            if violation is None or behind.schedule is None:
                return
            is_same = violation.kind == "no-deadlock" and violation.thread == number
            if not is_same or not self.places.is_at(violation.origin, target.location):
                return
            schedule = behind.schedule
        found = Found(Confirmation.CONFIRMED, "", schedule, "no-deadlock", message, number)
        found.origin = outcome.origin
        raise _Over(found)

    def _schedule(self, node: _Node, *further: ScheduledStep) -> Schedule:
        steps = list(reversed(further))
        current: _Node | None = node
        while current is not None and current.step is not None:
            steps.append(current.step)
            current = current.parent
        return Schedule(steps[::-1])


def _is_negative(waypoint: Waypoint) -> bool:
    return "-" in waypoint.constraint


_NOTHING = Footprint(1, [], (False, False))
