"""All schedules up to the order of independent steps: dynamic partial-order reduction (Flanagan and
Godefroid, POPL 2005; section 3.1 of the Fusion paper) with sleep sets (Godefroid 1996) and source
sets (Abdulla, Aronis, Jonsson, Sagonas, POPL 2014), without which sleep sets would hide schedules.

A state of the search is a node: the steps that lead to it, the threads that are to be tried there
(backtrack), those that were (done), and those that need not be because a run that began with them
was seen (sleep). Each run follows the present path to its last node, takes a thread that is left
there, and goes on by itself. Afterwards each step of the run is compared with the earlier ones that
it depends on and that nothing orders before it: there the other thread is tried too.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from typing import Any

from plait.data import dataclass, field
from plait.hunt.dependence import Transition, conflict, depend, granules, transitions
from plait.hunt.run import Run, Runner
from plait.hunt.schedule import Decision, Pick, Schedule, Step

LONGEST = 20_000  # steps of a run that is searched
_MOST_THREADS = 63  # that `enabled` has a bit for
_UNLOCKS = frozenset(
    ("pthread_mutex_unlock", "mtx_unlock", "pthread_spin_unlock", "pthread_rwlock_unlock")
)
_LOCKS = frozenset(
    ("pthread_mutex_lock", "mtx_lock", "pthread_spin_lock", "pthread_rwlock_rdlock")
    + ("pthread_rwlock_wrlock", "pthread_cond_wait/lock", "cnd_wait/lock")
    + ("pthread_cond_timedwait/lock", "cnd_timedwait/lock", "pthread_cond_clockwait/lock")
)
_WAKES = frozenset(("pthread_cond_wait/wake", "cnd_wait/wake", "pthread_barrier_wait/leave"))


@dataclass(slots=True, eq=False)
class Node:
    """Before a step of the present path, or (`ways` > 0) before a choice that belongs to it."""

    chosen: int  # a thread, or a value
    enabled: int = 0
    ways: int = 0
    backtrack: set[int] = field(default_factory=set)
    done: set[int] = field(default_factory=set)
    sleep: set[int] = field(default_factory=set)

    @property
    def decision(self) -> Decision:
        return Pick(self.chosen) if self.ways else Step(self.chosen)

    def left(self) -> list[int]:
        if self.ways:
            return [value for value in range(self.ways) if value not in self.done]
        return sorted(self.backtrack - self.done - self.sleep)


class Dpor:
    name = "dpor"

    def __init__(self, unseen: Iterable[str] = ()) -> None:
        self.path: list[Node] = []
        self.gaps: set[str] = set()  # why not everything was covered
        names = list(unseen)
        if names:
            more = f" and {len(names) - 5} more" if len(names) > 5 else ""
            what = ", ".join(names[:5]) + more
            self.gaps.add(f"the program calls {what}, whose effects on other threads are not seen")
        self.is_done = False
        self.runs = 0
        self.redundant = 0

    def next_run(self, runner: Runner) -> Run | None:
        """One more run, or None if nothing is left."""
        if self.is_done:
            return None
        asleep: tuple[int, ...] = ()
        if self.runs and not self._advance():
            self.is_done = True
            return None
        if self.path:
            last = self.path[-1]
            asleep = tuple(sorted(last.sleep | (set() if last.ways else last.done - {last.chosen})))
        decisions = tuple(node.decision for node in self.path)
        run = runner.run(Schedule(decisions, asleep), "first", enabled=1)
        self.runs += 1
        self._learn(run, asleep)
        return run

    def left(self) -> int:
        """How many places are known where something else is to be tried."""
        return sum(len(set(node.left()) - {node.chosen}) for node in self.path)

    def notes(self) -> tuple[str, ...]:
        """What to say about the search, beside what it has left out."""
        return ()

    def _advance(self) -> bool:
        """Go to the deepest node with something left; False if there is none."""
        while self.path:
            node = self.path[-1]
            node.done.add(node.chosen)
            left = node.left()
            if left:
                node.chosen = left[0]
                return True
            self.path.pop()
        return False

    def _learn(self, run: Run, asleep: Iterable[int]) -> None:
        if run.how == "redundant":
            self.redundant += 1
        elif run.how not in ("ended", "failed"):
            self.gaps.add(_GAPS.get(run.how, run.how))
        if run.trace is None or run.how == "differs":
            return
        if run.trace.count > LONGEST:
            self.gaps.add(f"a run has more than {LONGEST} visible operations")
            return
        if run.trace.thread_count > _MOST_THREADS:
            self.gaps.add(f"a run has more than {_MOST_THREADS} threads")
            return
        done, pending = transitions(run.trace)
        nodes = self._extend(done, pending, set(asleep))
        if nodes is None:
            self.gaps.add("the same schedule did not lead to the same run again")
            return
        if run.trace.clock_reads:
            self.gaps.add("the program reads the clock, which shows how far the others are")
        if any(access.first < 0 for step in done for access in step.accesses):
            self.gaps.add("the program meets the world outside, which may answer differently")
        races = _Races(done, pending, nodes)
        races.add_backtracks()
        if run.how != "redundant":
            races.add_before_end()

    def _extend(
        self, done: list[Transition], pending: dict[int, Transition], asleep: set[int]
    ) -> list[Node] | None:
        """Nodes for the whole run; those of its steps, or None if it did not follow the path."""
        next_of = _next_steps(done, pending)
        old, nodes = len(self.path), []
        sleep: set[int] = set()
        at = 0
        for number, step in enumerate(done):
            if at < old:
                node = self.path[at]
                if node.ways or node.chosen != step.thread:
                    return None
                if at == old - 1:
                    sleep = set(asleep)
            else:
                node = Node(step.thread, step.enabled, 0, {step.thread}, set(), set(sleep))
                self.path.append(node)
            nodes.append(node)
            at += 1
            if at >= old:
                sleep = {
                    thread
                    for thread in sleep
                    if thread != step.thread and _stays_asleep(next_of(thread, number), step)
                }
            for value, ways in step.choices:
                if ways == 0:
                    self.gaps.add("the program has inputs of which only one value was tried")
                    ways = 1
                if at < old:
                    if not self.path[at].ways or self.path[at].chosen != value:
                        return None
                    if at == old - 1:
                        sleep = set(asleep)
                else:
                    known = {0} if ways == 1 else set()
                    self.path.append(Node(value, 0, ways, set(), known, set(sleep)))
                at += 1
        return nodes if at >= old else None

    # --- to go on another day

    def save(self) -> dict[str, Any]:
        rows = [
            [node.chosen, node.enabled, node.ways]
            + [sorted(part) for part in (node.backtrack, node.done, node.sleep)]
            for node in self.path
        ]
        return {"path": rows, "gaps": sorted(self.gaps), "runs": self.runs, "done": self.is_done}

    def load(self, data: dict[str, Any]) -> None:
        self.path = [
            Node(chosen, enabled, ways, set(backtrack), set(done), set(sleep))
            for chosen, enabled, ways, backtrack, done, sleep in data["path"]
        ]
        self.gaps |= set(data["gaps"])
        self.runs, self.is_done = int(data["runs"]), bool(data["done"])


_GAPS = {
    "endless": "a run did not end within its time limit",
    "limit": "a run had more visible operations, threads or memory than the limits allow",
    "differs": "the same schedule did not lead to the same run again",
    "exec": "the program executes another one, which is not seen",
    "unsupported": "the program calls what is not supported",
    "none": "a run ended unseen by the runtime",
}


def _stays_asleep(step: Transition | None, executed: Transition) -> bool:
    """What is done in an atomic section is known only when it is done."""
    if step is None or (not step.is_done and step.name == "section"):
        return False
    return not depend(step, executed)


def _next_steps(
    done: list[Transition], pending: dict[int, Transition]
) -> Callable[[int, int], Transition | None]:
    places: dict[int, list[int]] = {}
    for number, step in enumerate(done):
        places.setdefault(step.thread, []).append(number)

    def next_of(thread: int, after: int) -> Transition | None:
        mine = places.get(thread, [])
        at = bisect_right(mine, after)
        return done[mine[at]] if at < len(mine) else pending.get(thread)

    return next_of


class _Races:
    """Steps that could have come in another order.

    `clocks[k][t]`: the number of the last step of thread t that happens before step k or is it,
    plus one. Step i of another thread happens before the thread p (FG: `i ->_s p`) if it happens
    before p's last step.
    """

    def __init__(
        self, done: list[Transition], pending: dict[int, Transition], nodes: list[Node]
    ) -> None:
        self._done = done
        self._pending = pending
        self._nodes = nodes
        self._clocks: list[dict[int, int]] = []
        self._last: dict[int, int] = {}  # of each thread, the number of its last step
        self._places: dict[int, list[int]] = {}  # of each thread, the numbers of its steps
        self._touched: dict[int, list[tuple[int, int]]] = {}  # granule: step, access

    def add_backtracks(self) -> None:
        for number, step in enumerate(self._done):
            clock = self._clock_of_thread(step)
            orders = self._check(step, number, clock)
            for earlier in orders:
                _join(clock, self._clocks[earlier])
            clock[step.thread] = number + 1
            self._clocks.append(clock)
            self._last[step.thread] = number
            self._places.setdefault(step.thread, []).append(number)
            for index, access in enumerate(step.accesses):
                for granule in granules(access):
                    self._touched.setdefault(granule, []).append((number, index))
        for step in self._pending.values():
            self._check(step, len(self._done), self._clock_of_thread(step))

    def _clock_of_thread(self, step: Transition) -> dict[int, int]:
        last = self._last.get(step.thread)
        if last is not None:
            return dict(self._clocks[last])
        return dict(self._clocks[step.creator]) if step.creator >= 0 else {}

    def _check(self, step: Transition, number: int, clock: dict[int, int]) -> set[int]:
        """The earlier steps that this one depends on; backtracks are set where they race."""
        since = self._last.get(step.thread, step.creator)
        orders: set[int] = set()
        for access in step.accesses:
            for granule in granules(access):
                for earlier, index in reversed(self._touched.get(granule, ())):
                    other = self._done[earlier]
                    mine = other.accesses[index]
                    if other.thread == step.thread:
                        if (
                            not mine.is_read
                            and mine.first <= access.first <= access.end <= mine.end
                        ):
                            break  # whatever came before is ordered before this thread
                    elif conflict(access, mine):
                        orders.add(earlier)
        races = [
            earlier
            for earlier in sorted(orders, reverse=True)
            if earlier >= clock.get(self._done[earlier].thread, 0)
            and self._may_be_coenabled(earlier, self._done[earlier], step, since)
        ]
        for at, earlier in enumerate(races):
            # What comes before another race of the step is reversed when that one was.
            thread = self._done[earlier].thread
            if all(self._clocks[later].get(thread, 0) <= earlier for later in races[:at]):
                self._backtrack(earlier, step, number, clock, orders)
        return orders

    def _may_be_coenabled(
        self, earlier: int, other: Transition, step: Transition, since: int
    ) -> bool:
        if other.name in _UNLOCKS and step.name in _LOCKS:
            return False
        if step.name.endswith("join") or other.name == "exit":
            return False
        if step.name in _WAKES or (other.name.endswith("/done") and "once" in other.name):
            return False
        # The step was pending then, so that it is known whether it could have been made.
        is_known = earlier > since
        return not is_known or bool(self._nodes[earlier].enabled >> step.thread & 1)

    def _backtrack(
        self, at: int, step: Transition, number: int, clock: dict[int, int], orders: set[int]
    ) -> None:
        """Let a thread go first at the earlier step with which the run can begin in which the two
        steps come the other way round: one that has to wait for nothing but what was before. Only
        these may be left out if they are asleep (the initials of source sets, Abdulla and others,
        POPL 2014); the sets of Flanagan and Godefroid would be too large for that."""
        node, thread = self._nodes[at], self._done[at].thread
        first: dict[int, int] = {}  # of each thread, its first step that does not need the earlier
        for other, places in self._places.items():
            following = bisect_right(places, at)
            if other != thread and following < len(places):
                place = places[following]
                if self._clocks[place].get(thread, 0) <= at:
                    first[other] = place
        initials = {
            other
            for other, place in first.items()
            if all(
                self._clocks[place].get(third, 0) <= start
                for third, start in first.items()
                if third != other
            )
        }
        is_free = all(clock.get(third, 0) <= start for third, start in first.items())
        if step.thread not in first and is_free and not orders & self._steps_in(first, at):
            initials.add(step.thread)
        enabled = {t for t in range(1, _MOST_THREADS + 1) if node.enabled >> t & 1}
        initials &= enabled
        if node.backtrack & initials:
            return
        if step.thread in initials:
            node.backtrack.add(step.thread)
        elif initials:
            node.backtrack.add(min(initials))
        else:
            node.backtrack.update(enabled)

    def _steps_in(self, first: dict[int, int], at: int) -> set[int]:
        """All steps after the earlier one that do not need it."""
        thread = self._done[at].thread
        return {
            place
            for other, start in first.items()
            for place in self._places[other][bisect_left(self._places[other], start) :]
            if self._clocks[place].get(thread, 0) <= at
        }

    def add_before_end(self) -> None:
        """The process has ended while threads could have gone on: they could have come before its
        last step, `end` or the one that led to a failure."""
        if not self._done:
            return
        ends = [at for at, step in enumerate(self._done) if step.name == "end"]
        last = self._nodes[ends[-1] if ends else len(self._done) - 1]
        last.backtrack.update(thread for thread in self._pending if last.enabled >> thread & 1)


def _join(clock: dict[int, int], other: dict[int, int]) -> None:
    for thread, time in other.items():
        if clock.get(thread, 0) < time:
            clock[thread] = time
