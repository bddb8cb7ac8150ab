"""The executor for this machine: warm worker processes below a keeper process.

Whoever uses it imports beforehand what verifying needs, so that forks need not; and only imports
it: a process that has started threads must not fork.
"""

from __future__ import annotations

import json
import os
import select
import signal
import time
from collections.abc import Callable, Generator, Sequence
from typing import Any

from plait.bench.keeper import Plan, run_keeper
from plait.bench.records import (
    ExecutorFailed,
    Interrupted,
    Job,
    Record,
    Verify,
    record_of,
    result_from_plain,
)
from plait.work.signals import Signals

Started = Callable[[Job], None]
Tick = Callable[[], None]

_CHUNK = 1 << 16
_TICK_MILLISECONDS = 250
_LONGEST_FAREWELL = 10.0


class Pool:
    """`seconds` and `memory` bound a job from outside, for work that its own limits do not stop.
    `started` hears of each job that begins, `tick` is called a few times per second."""

    def __init__(
        self,
        verify: Verify,
        workers: int = 1,
        seconds: float | None = None,
        memory: int | None = None,
        started: Started | None = None,
        tick: Tick | None = None,
    ) -> None:
        self._verify = verify
        self._workers = workers
        self._seconds = seconds
        self._memory = memory
        self._started = started
        self._tick = tick

    def run(self, jobs: Sequence[Job]) -> Generator[Record]:
        if not jobs:
            return
        plan = Plan(jobs, self._verify, self._workers, self._seconds, self._memory)
        with Signals() as signals:
            keeper = _start_keeper(plan)
            try:
                yield from self._listen(jobs, keeper, signals)
            finally:
                keeper.end()

    def _listen(self, jobs: Sequence[Job], keeper: _Keeper, signals: Signals) -> Generator[Record]:
        left = len(jobs)
        poll = select.poll()
        poll.register(signals.pipe, select.POLLIN)
        poll.register(keeper.rows, select.POLLIN)
        while left:
            ready = {file for file, _ in poll.poll(_TICK_MILLISECONDS)}
            if signals.pipe in ready and signals.read().is_stop:
                raise Interrupted
            if keeper.rows in ready:
                for message in keeper.read():
                    if "started" in message:
                        if self._started is not None:
                            self._started(jobs[message["started"]])
                    elif "failed" in message:
                        raise ExecutorFailed(message["failed"])
                    else:
                        left -= 1
                        result = result_from_plain(message["result"])
                        yield record_of(jobs[message["job"]], result)
            if self._tick is not None:
                self._tick()


class _Keeper:
    """The keeper as the user's process sees it."""

    def __init__(self, pid: int, lifeline: int, rows: int) -> None:
        self.rows = rows
        self._pid = pid
        self._lifeline = lifeline
        self._line = b""

    def read(self) -> list[dict[str, Any]]:
        chunk = os.read(self.rows, _CHUNK)
        if not chunk:
            raise ExecutorFailed("the process that keeps the workers has been killed")
        *lines, self._line = (self._line + chunk).split(b"\n")
        return [json.loads(line) for line in lines]

    def end(self) -> None:
        """It ends everything below it as soon as its lifeline is cut."""
        os.close(self._lifeline)
        os.close(self.rows)
        end = time.monotonic() + _LONGEST_FAREWELL
        pause = 0.0005
        try:
            while os.waitpid(self._pid, os.WNOHANG) == (0, 0):
                if time.monotonic() > end:
                    os.kill(self._pid, signal.SIGKILL)
                    os.waitpid(self._pid, 0)
                    return
                time.sleep(pause)
                pause = min(2 * pause, 0.05)
        except ChildProcessError:
            pass


def _start_keeper(plan: Plan) -> _Keeper:
    parent = os.getpid()
    lifeline, to_lifeline = os.pipe()
    rows, to_rows = os.pipe()
    try:
        pid = os.fork()
    except OSError as error:
        for pipe in (lifeline, to_lifeline, rows, to_rows):
            os.close(pipe)
        raise ExecutorFailed(f"no process: {error.strerror or error}") from None
    if pid == 0:
        run_keeper(plan, parent, lifeline, to_rows)
    os.close(lifeline)
    os.close(to_rows)
    return _Keeper(pid, to_lifeline, rows)
