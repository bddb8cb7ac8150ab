"""Runs whose schedules are drawn: at random, or by priorities that change at a few places (PCT)."""

from __future__ import annotations

from typing import Any

from plait.hunt.run import Run, Runner
from plait.hunt.schedule import Schedule


class Random:
    """Who goes on is drawn at every operation; how likely a switch is, once for each run."""

    name = "random"
    is_done = False

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def next_run(self, runner: Runner) -> Run:
        self._seed += 1
        return runner.run(Schedule(), "random", seed=self._seed)

    def left(self) -> int:
        return 0

    def save(self) -> dict[str, Any]:
        return {"seed": self._seed}

    def load(self, data: dict[str, Any]) -> None:
        self._seed = int(data["seed"])


class Pct:
    """Probabilistic concurrency testing (Burckhardt and others, 2010): threads have priorities
    drawn at random, and at `depth` - 1 places the thread that runs gets the lowest. A failure that
    needs `depth` ordering constraints shows in a run with a probability of at least 1 / (threads *
    operations ** (depth - 1)), where no sleep or time-out is part of it."""

    name = "pct"
    is_done = False

    def __init__(self, seed: int, depth: int) -> None:
        self._seed = seed
        self._depth = depth
        self._operations = 100
        self._threads = 1
        self.has_run = False

    def next_run(self, runner: Runner) -> Run:
        self._seed += 1
        run = runner.run(
            Schedule(), "pct", seed=self._seed, depth=self._depth, steps=self._operations
        )
        self.has_run = True
        if run.trace is not None:
            self._operations = max(self._operations, run.trace.count)
            self._threads = max(self._threads, run.trace.thread_count)
        return run

    def left(self) -> int:
        return 0

    def bound(self) -> str:
        places = self._operations ** (self._depth - 1)
        return (
            f"a failure of depth {self._depth} shows in a run with a probability of at least"
            f" 1 in {self._threads * places:,} ({self._threads} threads,"
            f" {self._operations:,} operations)"
        )

    def save(self) -> dict[str, Any]:
        return {"seed": self._seed, "operations": self._operations, "threads": self._threads}

    def load(self, data: dict[str, Any]) -> None:
        self._seed = int(data["seed"])
        self._operations = int(data["operations"])
        self._threads = int(data["threads"])
