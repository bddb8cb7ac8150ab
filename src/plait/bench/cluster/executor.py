"""The executor for a cluster, as the user's process sees it: a driver process that knows Ray.

A cluster of this machine alone is started with the run and ends with it: whatever its processes
leave behind becomes a child of this process, and is ended. A cluster that was joined lives on.
"""

from __future__ import annotations

import json
import math
import os
import secrets
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import plait
from plait.bench.cluster.shipping import Terms, job_to_plain
from plait.bench.keeper import ATTEMPTS
from plait.bench.machine import machine, version
from plait.bench.processes import adopt_orphans, children, disown_orphans, end_children
from plait.bench.records import (
    ExecutorFailed,
    Interrupted,
    Job,
    Record,
    record_of,
    result_from_plain,
)
from plait.errors import InputError
from plait.work.signals import Signals

Started = Callable[[Job], None]
Note = Callable[[str], None]
Tick = Callable[[], None]

_CHUNK = 1 << 16
_TICK_MILLISECONDS = 250
_LONGEST_FAREWELL = 20.0
_NETWORK_GRACE = 60.0
_LONGEST_CONNECTING = 120.0
_LONGEST_FOLDER = 30  # the paths of Ray's sockets have some seventy characters more, and a limit


def check_ray() -> None:
    if find_spec("ray") is None:
        raise InputError("--cluster needs Ray: pip install 'plait[cluster]'")


class Cluster:
    """`address` is None for a cluster of this machine alone. `per_node` jobs at the same time share
    the CPUs of a node. `nodes` are those that have taken part."""

    def __init__(
        self,
        address: str | None,
        choices: Mapping[str, Any],
        per_node: int = 1,
        seconds: float | None = None,
        memory: int | None = None,
        cpus: int = 1,
    ) -> None:
        self._address = address
        self._terms = Terms(choices, seconds, memory)
        self._per_node = per_node
        self._cpus = cpus
        self.nodes: list[dict[str, Any]] = []

    def machine(self) -> dict[str, Any]:
        return machine() | {"nodes": self.nodes}

    def plan(self, jobs: Sequence[Job], folder: str) -> dict[str, Any]:
        terms = self._terms
        seconds = terms.seconds
        return {
            "address": self._address,
            "folder": folder,
            "cpus": self._cpus,
            "per_node": self._per_node,
            "version": version(),
            "terms": {
                "choices": dict(terms.choices),
                "seconds": seconds,
                "memory": terms.memory,
            },
            "longest_answer": None if seconds is None else ATTEMPTS * seconds + _NETWORK_GRACE,
            "jobs": [job_to_plain(job) for job in jobs],
        }

    @property
    def is_own(self) -> bool:
        return self._address is None


class ClusterExecutor:
    """`started` hears of each job that begins, `note` of nodes that come and go, `tick` is called a
    few times per second."""

    def __init__(
        self,
        cluster: Cluster,
        started: Started | None = None,
        note: Note | None = None,
        tick: Tick | None = None,
    ) -> None:
        self._cluster = cluster
        self._started = started
        self._note = note
        self._tick = tick
        self._connect_until = math.inf

    def run(self, jobs: Sequence[Job]) -> Generator[Record]:
        if not jobs:
            return
        folder = _short_folder()
        try:
            with Signals() as signals:
                driver = _Driver(self._cluster.plan(jobs, folder), folder)
                try:
                    yield from self._listen(jobs, driver, signals)
                finally:
                    driver.end()
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _listen(self, jobs: Sequence[Job], driver: _Driver, signals: Signals) -> Generator[Record]:
        left = len(jobs)
        self._connect_until = time.monotonic() + _LONGEST_CONNECTING
        poll = select.poll()
        poll.register(signals.pipe, select.POLLIN)
        poll.register(driver.answers, select.POLLIN)
        while left:
            ready = {file for file, _ in poll.poll(_TICK_MILLISECONDS)}
            if signals.pipe in ready and signals.read().is_stop:
                raise Interrupted
            if driver.answers in ready:
                for message in driver.read():
                    if "job" in message:
                        left -= 1
                        result = result_from_plain(message["result"])
                        yield record_of(jobs[message["job"]], result)
                    else:
                        self._hear(jobs, message)
            if time.monotonic() > self._connect_until:
                raise InputError(f"no answer from the cluster after {_LONGEST_CONNECTING:g} s")
            if self._tick is not None:
                self._tick()

    def _hear(self, jobs: Sequence[Job], message: dict[str, Any]) -> None:
        match message:
            case {"started": number}:
                if self._started is not None:
                    self._started(jobs[number])
            case {"connected": _}:
                self._connect_until = math.inf
            case {"note": text}:
                if self._note is not None:
                    self._note(text)
            case {"node": facts}:
                self._cluster.nodes.append(facts)
            case {"unusable": reason}:
                raise InputError(reason)
            case {"failed": reason}:
                raise ExecutorFailed(reason)


class _Driver:
    """In a session of its own, so that Ctrl-C reaches only this process."""

    def __init__(self, plan: dict[str, Any], folder: str) -> None:
        self._is_own = plan["address"] is None
        self._before = children()
        self._noise = Path(folder) / "driver.log"
        self._line = b""
        adopt_orphans()
        try:
            with open(self._noise, "wb") as noise:
                self._process = subprocess.Popen(
                    [sys.executable, "-P", "-m", "plait.bench.cluster.driver"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=noise,
                    env=_environment() | (_own_secret() if self._is_own else {}),
                    start_new_session=True,
                )
        except OSError as error:
            disown_orphans()
            raise ExecutorFailed(f"no process: {error.strerror or error}") from None
        assert self._process.stdin is not None and self._process.stdout is not None
        self._plan = self._process.stdin
        self.answers = self._process.stdout.fileno()
        try:
            self._plan.write(json.dumps(plan).encode("ascii") + b"\n")
            self._plan.flush()
        except BrokenPipeError:
            pass  # the end of its answers says so

    def read(self) -> list[dict[str, Any]]:
        chunk = os.read(self.answers, _CHUNK)
        if not chunk:
            words = self._noise.read_text("utf-8", "backslashreplace").split()
            last = f": {' '.join(words)[-200:]}" if words else ""
            raise ExecutorFailed(f"the connection to the cluster is lost{last}")
        *lines, self._line = (self._line + chunk).split(b"\n")
        return [json.loads(line) for line in lines]

    def end(self) -> None:
        """The end of its input stops it. What it starts belongs to the run, a joined cluster's
        processes do not."""
        try:
            self._plan.close()
        except BrokenPipeError:
            pass
        assert self._process.stdout is not None
        self._process.stdout.close()
        try:
            self._process.wait(_LONGEST_FAREWELL)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        if self._is_own:
            end_children(spare=self._before)
        disown_orphans()


def _environment() -> dict[str, str]:
    here = str(Path(plait.__file__).parents[1])
    paths = [here, *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path for path in paths if path),
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    }


def _own_secret() -> dict[str, str]:
    """Nobody else on this machine can give work to the cluster. Without it Ray makes a token that
    stays in the user's home, and that later clusters then ask for."""
    return {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}


def _short_folder() -> str:
    usual = tempfile.gettempdir()
    return tempfile.mkdtemp(prefix="plait-", dir=usual if len(usual) < _LONGEST_FOLDER else "/tmp")
