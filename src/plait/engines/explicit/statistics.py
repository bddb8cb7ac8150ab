"""What the engine counts."""

from __future__ import annotations

from plait.data import dataclass
from plait.engines import interface


@dataclass(slots=True, eq=False)
class Statistics(interface.Statistics):
    """`states` that are stored, `open_states` of them not expanded yet; `memories` are the
    different contents of memory among them."""

    threads: int = 0
    states: int = 0
    open_states: int = 0
    memories: int = 0
    steps: int = 0
    exploring_seconds: float = 0.0
