"""Who does what on a cluster, and what happens when somebody is lost. Nothing of Ray in here.

A job is lost when its worker dies, its node dies, or neither answers in time. Then it is done again
elsewhere. A job that has lost two workers of nodes that live on is an error, as in the pool of one
machine. The death of a node does not count against the job, unless it happens again and again. News
of a node's death come late (Ray waits for some heartbeats), so that a second loss is not judged at
once.
"""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

from plait.bench.keeper import ATTEMPTS
from plait.data import dataclass, field

Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Node:
    key: str
    name: str
    cpus: int


@dataclass(frozen=True, slots=True)
class Said:
    worker: int
    text: str


@dataclass(frozen=True, slots=True)
class Lost:
    worker: int
    reason: str


class Fleet(Protocol):
    """Workers on nodes, by numbers. What a worker says first is who it is."""

    def nodes(self) -> dict[str, Node]:
        """Those that are alive."""

    def start(self, node: Node, cpus: int) -> int: ...

    def give(self, worker: int, parcel: str) -> None: ...

    def wait(self, seconds: float) -> list[Said | Lost]: ...

    def end(self, worker: int) -> None: ...


@dataclass(frozen=True, slots=True)
class Patience:
    """In seconds. `answer` is for a job, None if it has no limit."""

    answer: float | None = None
    nodes: float = 2.0
    wait: float = 0.25
    restart: float = 5.0
    news_of_death: float = 45.0
    no_worker: float = 30.0
    no_node: float = 60.0


MOST_DEATHS = 5  # of nodes, with the same job
MOST_FAILURES = 3  # of a node's workers, one after the other


class Unusable(Exception):
    """The user has to change something before this can work."""


class NobodyLeft(Exception):
    pass


@dataclass(slots=True)
class _Site:
    """A node, and how it has behaved. One that was there `from_start` must be usable."""

    node: Node
    from_start: bool
    failures: int = 0
    not_before: float = 0.0
    is_used: bool = True
    is_announced: bool = False


@dataclass(slots=True)
class _Worker:
    site: _Site
    cpus: int
    is_ready: bool = False
    job: int | None = None
    since: float = 0.0


@dataclass(slots=True)
class _Losses:
    """Of one job: the nodes that it was lost on, and when and why that was the last time."""

    sites: list[_Site] = field(default_factory=list)
    when: float = 0.0
    reason: str = ""
    seconds: float = 0.0


class Dispatcher:
    """`pack` gives the text for a job on a number of CPUs, `per_node` jobs at the same time share a
    node; `say` hears what happens, `is_over` tells that nobody listens any more."""

    def __init__(
        self,
        fleet: Fleet,
        jobs: int,
        pack: Callable[[int, int], str],
        say: Callable[[Message], None],
        is_over: Callable[[], bool],
        *,
        version: str,
        per_node: int = 1,
        patience: Patience | None = None,
    ) -> None:
        self._fleet = fleet
        self._pack = pack
        self._say = say
        self._is_over = is_over
        self._version = version
        self._per_node = per_node
        self._patience = patience or Patience()
        self._left = jobs
        self._pending = deque(range(jobs))
        self._losses: dict[int, _Losses] = {}
        self._unjudged: set[int] = set()
        self._sites: dict[str, _Site] = {}
        self._workers: dict[int, _Worker] = {}
        self._has_looked = False
        self._next_look = 0.0
        self._idle_since = time.monotonic()
        self._has_complained = False

    def run(self) -> None:
        """Until every job has its result. Raises Unusable and NobodyLeft."""
        while self._left and not self._is_over():
            self._look_at_nodes()
            self._start_workers()
            self._hand_out()
            for event in self._fleet.wait(self._patience.wait):
                self._hear(event)
            self._keep_limits()
            self._judge()
            self._check_hope()

    def _look_at_nodes(self) -> None:
        now = time.monotonic()
        if now < self._next_look:
            return
        self._next_look = now + self._patience.nodes
        alive = self._fleet.nodes()
        for key in [key for key in self._sites if key not in alive]:
            self._bury(self._sites.pop(key))
        for key, node in alive.items():
            if key not in self._sites and node.cpus > 0:
                self._sites[key] = _Site(node, from_start=not self._has_looked)
        self._has_looked = True

    def _bury(self, site: _Site) -> None:
        for number in [key for key, item in self._workers.items() if item.site is site]:
            self._lose(number, f"the node {site.node.name} died")
        if site.is_announced:
            self._note(f"node {site.node.name} has died; what it was doing is done again")

    def _start_workers(self) -> None:
        if not self._pending:
            return
        now = time.monotonic()
        for site in self._sites.values():
            if not site.is_used or now < site.not_before:
                continue
            slots = min(self._per_node, site.node.cpus)
            share = max(1, site.node.cpus // self._per_node)
            missing = slots - sum(item.site is site for item in self._workers.values())
            for _ in range(missing):
                self._workers[self._fleet.start(site.node, share)] = _Worker(site, share)

    def _hand_out(self) -> None:
        for number, worker in self._workers.items():
            if self._pending and worker.is_ready and worker.job is None:
                job = self._pending.popleft()
                worker.job, worker.since = job, time.monotonic()
                self._say({"started": job})
                self._fleet.give(number, self._pack(job, worker.cpus))

    def _hear(self, event: Said | Lost) -> None:
        if event.worker not in self._workers:
            return  # it was given up before
        match event:
            case Lost(worker, reason):
                self._lose(worker, reason)
            case Said(worker, text):
                data = json.loads(text)
                if self._workers[worker].is_ready:
                    self._finish(worker, data["result"])
                else:
                    self._welcome(worker, data)

    def _welcome(self, number: int, data: Message) -> None:
        worker = self._workers[number]
        site = worker.site
        if "refused" in data:
            self._refuse(site, data["refused"])
        elif data["version"] != self._version:
            self._refuse(site, f"it has plait {data['version']}, here is {self._version}")
        else:
            worker.is_ready = True
            if not site.is_announced:
                site.is_announced = True
                facts = {"name": site.node.name, "cpus": site.node.cpus, **data["machine"]}
                self._say({"node": facts})
                plural = "" if site.node.cpus == 1 else "s"
                self._note(f"node {site.node.name} has joined, {site.node.cpus} CPU{plural}")

    def _refuse(self, site: _Site, reason: str) -> None:
        text = f"node {site.node.name} cannot be used: {reason}"
        if site.from_start:
            raise Unusable(f"{text}; install the same plait on all nodes")
        self._note(text)
        self._give_up(site)

    def _give_up(self, site: _Site) -> None:
        site.is_used = False
        for number in [key for key, item in self._workers.items() if item.site is site]:
            if self._workers[number].job is None:
                self._drop(number)

    def _finish(self, number: int, result: Message) -> None:
        worker = self._workers[number]
        job, worker.job = worker.job, None
        worker.site.failures = 0
        if job is not None:
            self._report(job, result, worker.site)

    def _lose(self, number: int, reason: str) -> None:
        worker = self._workers[number]
        self._drop(number)
        now, site = time.monotonic(), worker.site
        site.failures += 1
        site.not_before = now + self._patience.restart * site.failures
        if worker.job is not None:
            losses = self._losses.setdefault(worker.job, _Losses())
            losses.sites.append(site)
            losses.when, losses.reason, losses.seconds = now, reason, now - worker.since
            if len(losses.sites) < ATTEMPTS:
                self._pending.appendleft(worker.job)
            else:
                self._unjudged.add(worker.job)
        if site.failures >= MOST_FAILURES and site.is_used and self._is_alive(site):
            self._note(f"node {site.node.name} is not used any more: {reason}")
            self._give_up(site)

    def _drop(self, number: int) -> None:
        del self._workers[number]
        self._fleet.end(number)

    def _is_alive(self, site: _Site) -> bool:
        return self._sites.get(site.node.key) is site

    def _judge(self) -> None:
        """Jobs that were lost twice: again if nodes have died meanwhile, else an error."""
        now = time.monotonic()
        for job in sorted(self._unjudged):
            losses = self._losses[job]
            counted = sum(self._is_alive(site) for site in losses.sites)
            if len(losses.sites) >= MOST_DEATHS:
                reason = f"lost {len(losses.sites)} times: {losses.reason}"
            elif counted < ATTEMPTS:
                self._unjudged.discard(job)
                self._pending.appendleft(job)
                continue
            elif now < losses.when + self._patience.news_of_death:
                continue
            else:
                reason = losses.reason
            self._unjudged.discard(job)
            result = {"verdict": "error", "reason": reason, "wall_seconds": losses.seconds}
            self._report(job, result, losses.sites[-1])

    def _report(self, job: int, result: Message, site: _Site) -> None:
        statistics = result.get("statistics", {}) | {"node": site.node.name}
        self._left -= 1
        self._say({"job": job, "result": result | {"statistics": statistics}})

    def _keep_limits(self) -> None:
        limit = self._patience.answer
        if limit is None:
            return
        now = time.monotonic()
        for number, worker in list(self._workers.items()):
            if worker.job is not None and now > worker.since + limit:
                name = worker.site.node.name
                self._note(f"no answer from node {name} after {limit:g} s")
                self._lose(number, f"no answer from the node after {limit:g} s")

    def _check_hope(self) -> None:
        now = time.monotonic()
        if any(item.is_ready for item in self._workers.values()):
            self._idle_since = now
            return
        waited = now - self._idle_since
        if self._sites and not any(site.is_used for site in self._sites.values()):
            raise NobodyLeft("no node of the cluster can be used")
        if not self._sites and waited > self._patience.no_node:
            raise NobodyLeft("no node with CPUs is left in the cluster")
        if self._sites and waited > self._patience.no_worker and not self._has_complained:
            self._has_complained = True
            self._note("waiting for free CPUs on the cluster")

    def _note(self, text: str) -> None:
        self._say({"note": text})
