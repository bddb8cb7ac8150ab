"""Everything that `plait verify` and `plait.verify` can be asked for."""

from __future__ import annotations

from plait.data import dataclass, fields
from plait.errors import InputError
from plait.portfolio.subject import Subject
from plait.portfolio.values import check_choice, check_positive

ENGINES = ("auto", "modular", "orders", "impact", "portfolio")

# The values of plait.engines.orders.settings and plait.engines.impact.settings, which are not
# imported just to print help.
ORDER_ENCODINGS = ("abstract", "monolithic")
REFINEMENTS = ("propagator", "graph", "kernel", "cores")
POR = ("none", "static", "dynamic")
EXPLICIT = ("pointers", "few")

_MOST_MEMORY = 2.0**32
_OF_ENGINE = {
    "orders": ("unwind", "order_encoding", "refinement"),
    "impact": ("certificate", "por", "explicit", "force_cover", "max_nodes"),
}


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
        check_choice("engine", self.engine, ENGINES)
        check_choice("order_encoding", self.order_encoding, ORDER_ENCODINGS)
        check_choice("refinement", self.refinement, REFINEMENTS)
        check_choice("por", self.por, POR)
        check_choice("explicit", self.explicit, EXPLICIT)
        for name in ("timeout", "jobs", "unwind", "max_nodes"):
            check_positive(name, getattr(self, name))
        check_positive("memory_limit", self.memory_limit, _MOST_MEMORY)
        self._check_engine()

    def _check_engine(self) -> None:
        """InputError for options of engines that do not run, which would be without effect."""
        if self.engine == "portfolio":
            if self.certificate:
                raise InputError("certificate: needs --engine impact, the other engine has none")
            return
        engine = self.engine
        if engine == "auto" and self.certificate:
            engine = "impact"
        elif engine == "auto" and self.unwind is not None:
            engine = "orders"
        for owner, names in _OF_ENGINE.items():
            if engine not in ("auto", owner):
                for name in names:
                    self._check_is_default(name, owner, engine)

    def _check_is_default(self, name: str, owner: str, engine: str) -> None:
        default = next(item.default for item in fields(self) if item.name == name)
        if getattr(self, name) != default:
            raise InputError(f"{name}: needs --engine {owner}, but only {engine} runs")
