"""How far a verification has come, for whoever watches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from plait.data import dataclass, field


@dataclass(frozen=True, slots=True)
class EngineStatus:
    """`state` is running, waiting (for its turn on a single core) or ended; `doing` says in words
    what the engine is at, or why it has ended without a verdict; `numbers` are its statistics so
    far, `seconds` go by from its start to its end, whether it is running or waiting."""

    engine: str
    state: str
    doing: str
    seconds: float
    memory_bytes: int = 0
    numbers: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Status:
    """`stage` is the state of the strategy; None: there is no limit."""

    seconds: float
    seconds_left: float | None
    memory_bytes: int
    memory_bytes_left: int | None
    stage: str
    engines: tuple[EngineStatus, ...]


Watch = Callable[[Status], None]
