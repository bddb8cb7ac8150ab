"""What an engine is, as data: everything that plait needs to know of it before it runs.

Help texts, the strategy, results and documentation are made from these descriptions, so this module
and those that describe an engine import next to nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any

from plait.data import dataclass

LARGEST_NUMBER = 10**9  # of an option: more is a slip, and would not fit into what is written


class Start(Enum):
    """When `--engine auto` starts an engine."""

    CHECKS = "in the process that has read the program, before anything else: it is cheap"
    FIRST = "at once"
    SOON = "when the first engine has not answered in a few seconds"
    LATER = "when the first engine has not answered soon"
    ON_REQUEST = "never"


@dataclass(frozen=True, slots=True)
class EngineOption:
    """An option of one engine: `max_nodes` in Python is `--max-nodes` on the command line. Its kind
    follows from the default and the choices: one of some names, True or False, or a positive
    number. A default of True is switched off by `--no-...`."""

    name: str
    default: str | int | bool
    help: str
    choices: tuple[str, ...] = ()

    @property
    def is_switch(self) -> bool:
        return isinstance(self.default, bool)

    @property
    def flag(self) -> str:
        word = self.name.replace("_", "-")
        return f"--no-{word}" if self.default is True else f"--{word}"

    def problem(self, value: Any) -> str:
        """What is wrong with a value; empty if nothing is."""
        if self.choices:
            known = isinstance(value, str) and value in self.choices
            return "" if known else f"'{value}': known are {', '.join(self.choices)}"
        if self.is_switch:
            return "" if isinstance(value, bool) else f"{value!r}: True or False expected"
        if not isinstance(value, int) or isinstance(value, bool):
            return f"{value!r}: a whole number expected"
        return "" if 0 < value <= LARGEST_NUMBER else f"{value}: must be from 1 to {LARGEST_NUMBER}"


@dataclass(frozen=True, slots=True)
class EngineDescription:
    """`module` has the function `answer(question, listener) -> Outcome` (plait.engines.interface);
    it is imported when the engine runs.

    `proves` and `refutes` are names of properties. `bounds_loops`: it unrolls loops up to a bound,
    so `--unwind` is for it, and a proof needs loops that have one. `gives_certificates`: its proofs
    have trees and invariants, and `plait check` checks them, but for those of `uncertified`
    properties. `needs_checking`: a proof of its counts only when the checker has accepted it.
    `runs_program`: it executes the user's program.

    `memory_models`: those whose executions it looks at.

    The texts are for people: `summary` completes "NAME ...", `strength` and `weakness` stand in a
    table; `beginning` is what it is at when it begins, `nothing_yet` how far it has come then.
    `numbers_line` is a template for the most telling of its statistics, `proof_words` follow the
    claim of a proof."""

    name: str
    module: str
    start: Start
    proves: frozenset[str]
    refutes: frozenset[str]
    summary: str
    strength: str
    weakness: str
    beginning: str
    nothing_yet: str
    numbers_line: str
    proof_words: str = ""
    bounds_loops: bool = False
    gives_certificates: bool = False
    uncertified: frozenset[str] = frozenset()
    needs_checking: bool = False
    runs_program: bool = False
    memory_models: frozenset[str] = frozenset({"sc"})
    options: tuple[EngineOption, ...] = ()

    @property
    def checks(self) -> frozenset[str]:
        """The properties that it can say anything about."""
        return self.proves | self.refutes

    def certifies(self, properties: Iterable[str]) -> bool:
        """Whether a proof of these properties has a certificate."""
        return self.gives_certificates and self.uncertified.isdisjoint(properties)

    def settings(self, chosen: Mapping[str, Any]) -> dict[str, Any]:
        """The values of its options, with the defaults filled in."""
        return {item.name: chosen.get(item.name, item.default) for item in self.options}
