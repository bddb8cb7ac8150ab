"""Everything that `plait verify` and `plait.verify` can be asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plait.data import dataclass, field
from plait.engines import registry
from plait.engines.description import LARGEST_NUMBER, EngineDescription
from plait.errors import InputError
from plait.portfolio.subject import Subject
from plait.portfolio.values import check_choice, check_positive

_MOST_MEMORY = 2.0**32


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(Subject):
    """Times are in seconds, memory in GiB; None is as much as there is. `jobs`: processes that
    work at the same time, None for one on each core. `certificate`: keep the proof of a true
    verdict for `plait check`; `proof`: also its tree and invariants; `invariants`: take more time
    to find invariants about shared variables. `cache`: answer from earlier runs where nothing has
    changed since, and keep what this one finds. `unwind`: examine so many rounds of each loop and
    no more. `suggest_fences`: where the verdict is false under a weak memory model, look for what
    makes it true. `engine_options` has those of single engines that differ from the defaults."""

    engine: str = registry.AUTO
    timeout: float | None = None
    memory_limit: float | None = None
    jobs: int | None = None
    cache: bool = True
    certificate: bool = False
    proof: bool = False
    invariants: bool = False
    unwind: int | None = None
    suggest_fences: bool = False
    engine_options: Mapping[str, Any] = field(default_factory=dict)

    def check(self) -> None:
        Subject.check(self)
        check_choice("engine", self.engine, registry.choices())
        check_positive("timeout", self.timeout)
        for name in ("jobs", "unwind"):
            check_positive(name, getattr(self, name), LARGEST_NUMBER + 1)
        check_positive("memory_limit", self.memory_limit, _MOST_MEMORY)
        known = {option.name: option for _, option in registry.options()}
        for name, value in self.engine_options.items():
            if name not in known:
                raise InputError(f"{name}: no engine has such an option")
            problem = known[name].problem(value)
            if problem:
                raise InputError(f"{name} {problem}")
        self._check_engine()

    def _check_engine(self) -> None:
        """InputError for options of engines that do not run, which would be without effect."""
        if self.certificate and self.assume_defined:
            raise InputError("certificate: none is given under --assume-defined")
        if self.certificate and self.memory_model not in (None, "sc"):
            raise InputError("certificate: none is given under a weak memory model")
        if self.suggest_fences and self.memory_model in (None, "sc"):
            raise InputError("suggest_fences: needs a weak memory model")
        givers = [item for item in registry.engines() if item.gives_certificates]
        bounding = [item for item in registry.engines() if item.bounds_loops]
        if self.engine == registry.PORTFOLIO:
            if self.certificate:
                needed = registry.names(givers)
                raise InputError(f"certificate: needs --engine {needed}, others have none")
            return
        running = list(registry.engines())
        if registry.is_engine(self.engine):
            running = [registry.engine(self.engine)]
        elif self.certificate:
            running = givers
        elif self.unwind is not None:
            running = bounding
        if self.unwind is not None:
            _check_runs("unwind", bounding, running)
        if self.certificate:
            _check_runs("certificate", givers, running)
        for owner, option in registry.options():
            is_given = option.name in self.engine_options
            is_off = option.is_switch and self.engine_options.get(option.name) is option.default
            if is_given and not is_off:
                _check_runs(option.name, [owner], running)


def _check_runs(
    name: str, owners: list[EngineDescription], running: list[EngineDescription]
) -> None:
    if not any(item in running for item in owners):
        only = registry.names(running)
        raise InputError(f"{name}: needs --engine {registry.names(owners)}, but only {only} runs")
