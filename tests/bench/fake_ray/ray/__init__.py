"""As much of Ray as plait uses, on this machine and without Ray. Calls of an actor are made one after
the other in a thread of its own, in the process of the driver. The environment says how many nodes
there are (FAKE_RAY_NODES), and that joining fails (FAKE_RAY_REFUSES)."""

from __future__ import annotations

import os
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from typing import Any


def init(address: str, **options: Any) -> None:
    print("noise of a library", flush=True)
    if "FAKE_RAY_REFUSES" in os.environ:
        raise ConnectionError(f"nobody\nat {address}")


def nodes() -> list[dict[str, Any]]:
    count = int(os.environ.get("FAKE_RAY_NODES", "1"))
    return [
        {
            "NodeID": f"{n:04}-rest",
            "Alive": True,
            "NodeManagerHostname": "fake",
            "Resources": {"CPU": 2.0},
        }
        for n in range(count)
    ]


class _Method:
    def __init__(self, actor: _Actor, name: str) -> None:
        self._actor = actor
        self._name = name

    def remote(self, *arguments: Any) -> Future[Any]:
        return self._actor.thread.submit(
            lambda: getattr(self._actor.made.result(), self._name)(*arguments)
        )


class _Actor:
    def __init__(self, kind: type, arguments: tuple[Any, ...]) -> None:
        self.thread = ThreadPoolExecutor(1)
        self.made = self.thread.submit(kind, *arguments)

    def __getattr__(self, name: str) -> _Method:
        return _Method(self, name)


class _Class:
    def __init__(self, kind: type) -> None:
        self._kind = kind

    def options(self, **options: Any) -> _Class:
        assert options["max_restarts"] == 0
        return self

    def remote(self, *arguments: Any) -> _Actor:
        return _Actor(self._kind, arguments)


remote = _Class


def wait(
    promises: list[Future[Any]], num_returns: int, timeout: float
) -> tuple[list[Any], list[Any]]:
    how = "FIRST_COMPLETED" if num_returns == 1 else "ALL_COMPLETED"
    done, rest = wait_for(promises, timeout, how)
    return list(done), list(rest)


def get(promise: Future[Any]) -> Any:
    return promise.result()


def kill(actor: _Actor, no_restart: bool) -> None:
    actor.made.result()._process.kill()


def shutdown() -> None:
    pass
