"""Ray as a fleet of workers: the only module that knows it.

An actor is a line to a plain process on its node and nothing else: Ray's own processes have threads
and must not fork. Its class is sent by value, so that a node without plait can say so. Actors are
never restarted by Ray and their calls never repeated: `plait.bench.cluster.dispatch` decides that.
"""

from __future__ import annotations

import socket
import time
from pathlib import Path
from typing import Any

import plait
from plait.bench.cluster.dispatch import Lost, Node, Said, Unusable

_OBJECT_STORE = 100 << 20  # jobs and results are small
_LONGEST_REASON = 300
_KNOCK_SECONDS = 10.0


class RayFleet:
    """Open from `connect` to `close`."""

    def __init__(self, ray: Any, path: list[str]) -> None:
        self._ray = ray
        self._path = path
        self._line = ray.remote(_line_class())
        self._actors: dict[int, Any] = {}
        self._promises: dict[Any, int] = {}
        self._next = 0

    def nodes(self) -> dict[str, Node]:
        return {row["NodeID"]: _node(row) for row in self._ray.nodes() if row["Alive"]}

    def start(self, node: Node, cpus: int) -> int:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        actor = self._line.options(
            num_cpus=cpus,
            max_restarts=0,
            max_task_retries=0,
            scheduling_strategy=NodeAffinitySchedulingStrategy(node.key, soft=False),
        ).remote(self._path)
        self._next += 1
        self._actors[self._next] = actor
        self._promises[actor.hello.remote()] = self._next
        return self._next

    def give(self, worker: int, parcel: str) -> None:
        self._promises[self._actors[worker].ask.remote(parcel)] = worker

    def wait(self, seconds: float) -> list[Said | Lost]:
        promises = list(self._promises)
        if not promises:
            time.sleep(seconds)
            return []
        if not self._ray.wait(promises, num_returns=1, timeout=seconds)[0]:
            return []
        ready, _ = self._ray.wait(promises, num_returns=len(promises), timeout=0)
        return [self._event(promise) for promise in ready]

    def end(self, worker: int) -> None:
        actor = self._actors.pop(worker)
        for promise in [key for key, number in self._promises.items() if number == worker]:
            del self._promises[promise]
        try:
            self._ray.kill(actor, no_restart=True)
        except Exception:
            pass  # it is gone

    def close(self) -> None:
        for worker in list(self._actors):
            self.end(worker)
        self._ray.shutdown()

    def _event(self, promise: Any) -> Said | Lost:
        worker = self._promises.pop(promise)
        try:
            return Said(worker, self._ray.get(promise))
        except Exception as error:
            return Lost(worker, _reason(error))


def connect(address: str | None, folder: str, cpus: int) -> RayFleet:
    """Start a cluster of this machine alone, with its files in `folder`; or join the one at an
    address. Raises Unusable."""
    import ray

    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    try:
        if address is None:
            here = str(Path(plait.__file__).parents[1])
            ray.init(
                address="local",
                num_cpus=cpus,
                include_dashboard=False,
                object_store_memory=_OBJECT_STORE,
                _temp_dir=folder,
                **quiet,
            )
            return RayFleet(ray, [here])
        _knock(address)
        ray.init(address=address, **quiet)
        return RayFleet(ray, [])
    except Exception as error:
        what = "cannot start a cluster" if address is None else f"cannot join the cluster {address}"
        raise Unusable(f"{what}: {_short(str(error))}") from None


def _knock(address: str) -> None:
    """Ray tries for minutes where nobody listens."""
    host, colon, port = address.rpartition(":")
    if colon:
        socket.create_connection((host.strip("[]"), int(port)), _KNOCK_SECONDS).close()


def _node(row: dict[str, Any]) -> Node:
    key = row["NodeID"]
    name = f"{row['NodeManagerHostname']}-{key[:4]}"
    return Node(key, name, int(row["Resources"].get("CPU", 0)))


def _reason(error: Exception) -> str:
    cause = getattr(error, "cause", None)
    if isinstance(cause, Exception):  # raised by the line itself
        return _short(str(cause))
    return f"the worker was lost: {_short(str(error))}"


def _short(text: str) -> str:
    return " ".join(text.split())[:_LONGEST_REASON]


def _line_class() -> type:
    """A class inside a function is what Ray sends by value. It may use the standard library only,
    imported where it is used."""

    class Line:
        def __init__(self, path: list[str]) -> None:
            import os
            import subprocess
            import sys
            import tempfile

            environment = dict(os.environ)
            if path:
                paths = [*path, *environment.get("PYTHONPATH", "").split(os.pathsep)]
                environment["PYTHONPATH"] = os.pathsep.join(item for item in paths if item)
            self._noise = tempfile.TemporaryFile()  # noqa: SIM115
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "plait.bench.cluster.node"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._noise,
                env=environment,
            )

        def hello(self) -> str:
            import json

            try:
                return self._read()
            except RuntimeError as error:
                if self._process.wait() <= 0:
                    raise  # killed: that says nothing about plait
                return json.dumps({"refused": str(error)})

        def ask(self, parcel: str) -> str:
            pipe = self._process.stdin
            assert pipe is not None
            try:
                pipe.write(parcel.encode("ascii") + b"\n")
                pipe.flush()
            except BrokenPipeError:
                pass  # the end of its answers says so
            return self._read()

        def _read(self) -> str:
            pipe = self._process.stdout
            assert pipe is not None
            line = pipe.readline()
            if not line.endswith(b"\n"):
                code = self._process.wait()
                self._noise.seek(0)
                words = self._noise.read().decode("utf-8", "backslashreplace").split()
                last = f": {' '.join(words)[-200:]}" if words else ""
                raise RuntimeError(f"the process on the node ended with code {code}{last}")
            return line.decode("ascii")

    return Line
