"""Everything that `plait verify` and `plait.verify` can be asked for."""

from __future__ import annotations

from dataclasses import dataclass

from plait.errors import InputError
from plait.portfolio.subject import Subject

ENGINES = ("auto", "modular", "orders", "impact", "portfolio")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(Subject):
    """Times are in seconds, memory in GiB; None is as much as there is. `jobs`: processes that
    work at the same time, None for one on each core. `certificate`: keep the proof of a true
    verdict for `plait check`; `proof`: also its tree and invariants; `invariants`: take more time
    to find invariants about shared variables. `cache`: answer from earlier runs where nothing has
    changed since, and keep what this one finds."""

    engine: str = "auto"
    timeout: float | None = None
    memory_limit: float | None = None
    jobs: int | None = None
    cache: bool = True
    certificate: bool = False
    proof: bool = False
    invariants: bool = False
    unwind: int | None = None
    order_encoding: str | None = None
    refinement: str | None = None
    por: str | None = None
    explicit: str | None = None
    force_cover: bool = True
    max_nodes: int | None = None

    def check(self) -> None:
        Subject.check(self)
        if self.engine not in ENGINES:
            raise InputError(f"engine '{self.engine}': known are {', '.join(ENGINES)}")
        for name in ("timeout", "memory_limit", "jobs", "unwind", "max_nodes"):
            value = getattr(self, name)
            if value is not None and not 0 < value < float("inf"):
                raise InputError(f"{name} {value}: must be positive")
