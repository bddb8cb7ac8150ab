"""How the engine works."""

from __future__ import annotations

from plait.data import dataclass


@dataclass(frozen=True, slots=True)
class Settings:
    persistent_sets: bool = True
    sections: bool = True
    commuting: bool = True
    values: bool = False
    max_states: int = 20_000_000
