"""A team without processes, which remembers what it was asked to do."""

from __future__ import annotations

from plait.work.child import Message, Work
from plait.work.supervise import Team


class FakeTeam(Team):
    def __init__(self) -> None:
        self.started: list[str] = []
        self.paused: set[str] = set()
        self.told: list[tuple[str, Message]] = []
        self.gone: set[str] = set()

    def start(self, name: str, work: Work) -> None:
        assert name not in self.names
        self.started.append(name)
        self.gone.discard(name)

    def stop(self, name: str) -> None:
        self.gone.add(name)

    def pause(self, name: str) -> None:
        self.paused.add(name)

    def resume(self, name: str) -> None:
        self.paused.discard(name)

    def tell(self, name: str, message: Message) -> None:
        self.told.append((name, message))

    def memory(self, name: str) -> int:
        return 0 if name in self.gone else 1 << 20

    @property
    def names(self) -> list[str]:
        return [name for name in dict.fromkeys(self.started) if name not in self.gone]

    @property
    def running(self) -> set[str]:
        return set(self.names) - self.paused
