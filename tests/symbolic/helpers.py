"""Blocks of small programs, executed path by path or merged."""

from __future__ import annotations

from pathlib import Path

from plait.analysis.finite import FiniteValues
from plait.analysis.points_to import PointsTo
from plait.analysis.sharing import Sharing
from plait.c import FrontEndOptions, load
from plait.logic.terms import Terms
from plait.model.program import Edge, Program
from plait.model.properties import Specification
from plait.symbolic.blocks import Kind
from plait.symbolic.execute import Executor
from plait.symbolic.knowledge import Knowledge
from plait.symbolic.locations import Location
from plait.symbolic.precision import Maker

APART = 400
MERGED = 0


class FewValues:
    """A precision like that of an engine: what only ever gets a few values is explicit."""

    joins_bytes = False

    def __init__(self, points_to: PointsTo, most_paths: int) -> None:
        self.most_paths = most_paths
        self._finite = FiniteValues(points_to)

    def is_switch(self, edge: Edge) -> bool:
        return False

    def is_explicit_place(self, maker: Maker, offset: int) -> bool:
        return self._finite.is_finite_place(maker, offset)

    def is_lock(self, address: int) -> bool:
        return False

    def is_untracked(self, maker: Maker, size: int) -> bool:
        return False

    def is_explicit_register(self, function: str, index: int) -> bool:
        return self._finite.is_finite_register(function, index)


def loaded(text: str, folder: Path) -> Program:
    path = folder / "program.c"
    path.write_text(text)
    return load([str(path)], FrontEndOptions(), Specification())


def executor_of(program: Program, terms: Terms, most_paths: int) -> Executor:
    sharing = Sharing(PointsTo(program))
    precision = FewValues(sharing.points_to, most_paths)
    return Executor(Knowledge(program, sharing, precision), terms, Specification())


def reachable(executor: Executor, most: int) -> list[Location]:
    """Some locations, in breadth-first order; not all need to be feasible."""
    found = {executor.start(): None}
    pending = list(found)
    for location in pending:
        for number in location.can_step():
            for way in executor.block(location, number).ways:
                if way.kind is Kind.MOVE and way.target is not None and way.target not in found:
                    found[way.target] = None
                    pending.append(way.target)
                    if len(found) == most:
                        return pending
    return pending
