"""The channel of facts: from the engine that has proved them, through the supervisor, to the
others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from plait.work.child import Channel
from plait.work.supervise import Team

if TYPE_CHECKING:
    from plait.model.facts import Fact

_KEY = "facts"
_AT_ONCE = 16  # a message has to be short


def tell(team: Team, worker: str, rows: list[dict[str, Any]]) -> None:
    for start in range(0, len(rows), _AT_ONCE):
        team.tell(worker, {_KEY: rows[start : start + _AT_ONCE]})


class Known:
    """What a worker knows: from the beginning, from itself, and from what it is told."""

    def __init__(self, rows: Iterable[dict[str, Any]], channel: Channel) -> None:
        self._rows = list(rows)
        self._channel = channel
        self._facts: list[Fact] = []

    def add(self, facts: Iterable[Fact]) -> None:
        self._facts += facts

    def __call__(self) -> tuple[Fact, ...]:
        """All facts that there are by now."""
        from plait.model.facts import decode

        for message in self._channel.news():
            self._rows += message.get(_KEY, [])
        self._facts += decode(self._rows)
        self._rows.clear()
        return tuple(self._facts)
