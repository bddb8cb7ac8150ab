"""Engines that share too few cores take turns: `jobs` of them run for a while, then they wait and
others run. The turns become longer, so that a long search is not torn to pieces and a short one
soon gets its turn."""

from __future__ import annotations

from plait.work.supervise import Team

_FIRST_SECONDS = 1.0
_FACTOR = 1.5
_LONG = 3600.0


class CoreShares:
    def __init__(self, jobs: int) -> None:
        self._jobs = max(1, jobs)
        self._queue: list[str] = []  # those whose turn it is come first
        self._seconds = _FIRST_SECONDS
        self._end: float | None = None

    def add(self, name: str) -> None:
        """The newest one comes first: the others have had their time."""
        self._queue.insert(0, name)
        self._end = None

    def drop(self, name: str) -> None:
        if name in self._queue:
            self._queue.remove(name)
            self._end = None

    def is_waiting(self, name: str) -> bool:
        return name in self._queue[self._jobs :]

    def share_out(self, team: Team, now: float) -> float:
        """Let those run whose turn it is; the seconds until the next turn."""
        if len(self._queue) <= self._jobs:
            for name in self._queue:
                team.resume(name)
            return _LONG
        if self._end is not None and now >= self._end:
            turn, self._queue = self._queue[: self._jobs], self._queue[self._jobs :]
            self._queue += turn
            self._seconds *= _FACTOR
            self._end = None
        if self._end is None:
            self._end = now + self._seconds
            for name in self._queue[self._jobs :]:
                team.pause(name)
            for name in self._queue[: self._jobs]:
                team.resume(name)
        return max(0.0, self._end - now)
