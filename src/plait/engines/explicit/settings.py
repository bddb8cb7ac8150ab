"""How the engine works; `sections` is young, and only on request."""

from __future__ import annotations

from plait.data import dataclass


@dataclass(frozen=True, slots=True)
class Settings:
    persistent_sets: bool = True
    sections: bool = False
    commuting: bool = True
    max_states: int = 20_000_000
