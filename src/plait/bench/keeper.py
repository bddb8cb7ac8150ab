"""The process between the user's one and the workers. It does nothing that could crash or hang.

It hands out jobs, replaces workers that died or that no limit has stopped, and ends all processes
below it when its own end comes: because the work is done, or because the user's process is gone,
which it notices by the end of a pipe. Descendants that lose their parents become its children
(`plait.bench.processes`), so that nobody gets away.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import time
from collections import Counter, deque
from collections.abc import Sequence
from typing import NoReturn

from plait.bench.processes import (
    adopt_orphans,
    close_all_but,
    describe,
    end_children,
    end_process,
    resident_memory,
)
from plait.bench.records import Job, JobResult, Verify, to_plain
from plait.bench.worker import NUMBER, run_worker
from plait.data import dataclass

ATTEMPTS = 2

_CHUNK = 1 << 16
_MOST_NOISE = 2000
_MEMORY_PERIOD = 0.1
_PERIOD = 1.0
_ORPHANS_PERIOD = 5.0
_NO_PROCESS_PATIENCE = 10.0
_MOST_GROWTH = 256 << 20  # of a worker that is kept for the next job


@dataclass(frozen=True, slots=True)
class Plan:
    """What a keeper is forked with. After `seconds` a job is ended by force: verifying has a limit
    of its own, which is lower; `memory` is the most that a worker itself may use."""

    jobs: Sequence[Job]
    verify: Verify
    workers: int
    seconds: float | None
    memory: int | None


@dataclass(slots=True)
class _Worker:
    pid: int
    numbers: int
    results: int
    noise: int
    job: int | None = None
    since: float = 0.0
    line: bytes = b""
    said: bytes = b""


def run_keeper(plan: Plan, parent: int, lifeline: int, rows: int) -> NoReturn:
    """`lifeline` is at its end when the parent's process is gone; `rows` go to the parent."""
    code = 1
    keeper = None
    try:
        os.setsid()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.set_wakeup_fd(-1)
        close_all_but(lifeline, rows)
        adopt_orphans()
        gc.freeze()  # collecting would only copy the pages that are shared with the parent
        keeper = _Keeper(plan, parent, lifeline, rows)
        keeper.run()
        code = 0
    except BrokenPipeError:
        pass  # the parent is gone
    except BaseException as error:
        _say(rows, {"failed": f"{type(error).__name__}: {error}"})
    finally:
        if keeper is not None:
            keeper.end_all()
        os._exit(code)


def _say(rows: int, message: dict[str, object]) -> None:
    rest = memoryview(json.dumps(message).encode("ascii") + b"\n")
    try:
        while rest:
            rest = rest[os.write(rows, rest) :]
    except BrokenPipeError:
        if "failed" not in message:
            raise


class _Keeper:
    def __init__(self, plan: Plan, parent: int, lifeline: int, rows: int) -> None:
        self._plan = plan
        self._parent = parent
        self._lifeline = lifeline
        self._rows = rows
        self._pending = deque(range(len(plan.jobs)))
        self._attempts: Counter[int] = Counter()
        self._workers: dict[int, _Worker] = {}
        self._memory = resident_memory(os.getpid())
        self._next_orphans = time.monotonic() + _ORPHANS_PERIOD
        self._without_process_since: float | None = None

    def run(self) -> None:
        while self._pending or any(item.job is not None for item in self._workers.values()):
            self._hand_out()
            ready = self._wait()
            if self._lifeline in ready or os.getppid() != self._parent:
                return
            for worker in list(self._workers.values()):
                if worker.noise in ready:
                    self._hear_noise(worker)
                if worker.results in ready:
                    self._hear(worker)
            self._keep_limits()

    def end_all(self) -> None:
        for worker in list(self._workers.values()):
            self._end(worker)
        end_children()

    def _hand_out(self) -> None:
        for worker in self._workers.values():
            if self._pending and worker.job is None:
                self._give(worker)
        while self._pending and len(self._workers) < self._plan.workers:
            try:
                worker = self._start()
            except OSError as error:
                self._lack_process(error)
                return
            self._without_process_since = None
            self._give(worker)

    def _lack_process(self, error: OSError) -> None:
        """With some workers the work goes on; without any it does so for a while."""
        if self._workers:
            return
        now = time.monotonic()
        self._without_process_since = self._without_process_since or now
        if now - self._without_process_since > _NO_PROCESS_PATIENCE:
            raise error

    def _give(self, worker: _Worker) -> None:
        worker.job = self._pending.popleft()
        worker.since = time.monotonic()
        worker.said = b""
        self._attempts[worker.job] += 1
        _say(self._rows, {"started": worker.job})
        try:
            os.write(worker.numbers, NUMBER.pack(worker.job))
        except BrokenPipeError:
            pass  # it has died while it waited; the end of its results says so

    def _start(self) -> _Worker:
        pipes = [os.pipe() for _ in range(3)]
        (numbers, to_worker), (results, from_worker), (noise, to_noise) = pipes
        try:
            pid = os.fork()
        except OSError:
            for pipe in pipes:
                os.close(pipe[0])
                os.close(pipe[1])
            raise
        if pid == 0:
            close_all_but(numbers, from_worker, to_noise)
            plan, keeper = self._plan, os.getppid()
            run_worker(plan.jobs, plan.verify, plan.memory, keeper, numbers, from_worker, to_noise)
        for end in (numbers, from_worker, to_noise):
            os.close(end)
        worker = _Worker(pid, to_worker, results, noise)
        self._workers[pid] = worker
        return worker

    def _end(self, worker: _Worker) -> tuple[int, float]:
        """Exit code and CPU seconds of a worker that is no more, nor anything that it started."""
        del self._workers[worker.pid]
        for pipe in (worker.numbers, worker.results, worker.noise):
            os.close(pipe)
        ended = end_process(worker.pid)
        end_children(spare=frozenset(self._workers))
        return ended

    def _wait(self) -> set[int]:
        poll = select.poll()
        poll.register(self._lifeline, select.POLLIN)
        for worker in self._workers.values():
            poll.register(worker.results, select.POLLIN)
            poll.register(worker.noise, select.POLLIN)
        return {file for file, _ in poll.poll(self._patience())}

    def _patience(self) -> int:
        now = time.monotonic()
        period = _PERIOD if self._plan.memory is None else _MEMORY_PERIOD
        left = [period]
        if self._plan.seconds is not None:
            busy = [item.since for item in self._workers.values() if item.job is not None]
            left += [since + self._plan.seconds - now for since in busy]
        return max(0, int(min(left) * 1000) + 1)

    def _hear_noise(self, worker: _Worker) -> None:
        worker.said = (worker.said + os.read(worker.noise, _CHUNK))[-_MOST_NOISE:]

    def _hear(self, worker: _Worker) -> None:
        chunk = os.read(worker.results, _CHUNK)
        if not chunk:
            self._bury(worker)
            return
        worker.line += chunk
        if worker.line.endswith(b"\n") and worker.job is not None:
            _say(self._rows, {"job": worker.job, "result": json.loads(worker.line)})
            worker.job = None
            worker.line = b""
            if resident_memory(worker.pid) > self._memory + _MOST_GROWTH:
                self._end(worker)

    def _bury(self, worker: _Worker) -> None:
        """A worker that has closed its pipe has died, or will not get another job."""
        job, seconds = worker.job, time.monotonic() - worker.since
        while select.select([worker.noise], [], [], 0)[0] and (
            chunk := os.read(worker.noise, _CHUNK)
        ):
            worker.said = (worker.said + chunk)[-_MOST_NOISE:]
        code, cpu_seconds = self._end(worker)
        if job is not None:
            words = worker.said.decode("utf-8", "backslashreplace").split()
            last = f": {' '.join(words)[-200:]}" if words else ""
            reason = f"the worker ended {describe(code)}{last}"
            self._again_or_never(job, JobResult("error", reason), cpu_seconds, seconds)

    def _keep_limits(self) -> None:
        now = time.monotonic()
        limit, memory = self._plan.seconds, self._plan.memory
        for worker in list(self._workers.values()):
            job, seconds = worker.job, now - worker.since
            if job is None:
                continue
            if limit is not None and seconds >= limit:
                _, cpu_seconds = self._end(worker)
                reason = f"no answer after {limit:g} s, whatever its limits say"
                self._again_or_never(job, JobResult("error", reason), cpu_seconds, seconds)
            elif memory is not None and resident_memory(worker.pid) > memory:
                _, cpu_seconds = self._end(worker)
                reason = f"memory limit of {memory / (1 << 30):g} GiB"
                self._report(job, JobResult("unknown", reason), cpu_seconds, seconds)
        if now > self._next_orphans:
            end_children(spare=frozenset(self._workers))
            self._next_orphans = now + _ORPHANS_PERIOD

    def _again_or_never(
        self, job: int, result: JobResult, cpu_seconds: float, seconds: float
    ) -> None:
        if self._attempts[job] < ATTEMPTS:
            self._pending.append(job)
        else:
            self._report(job, result, cpu_seconds, seconds)

    def _report(self, job: int, result: JobResult, cpu_seconds: float, seconds: float) -> None:
        row = to_plain(result) | {"cpu_seconds": cpu_seconds, "wall_seconds": seconds}
        _say(self._rows, {"job": job, "result": row})
