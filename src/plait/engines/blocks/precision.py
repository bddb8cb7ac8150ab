"""Which interleavings and which explicit values an engine asks for."""

from __future__ import annotations

from plait.analysis.finite import FiniteValues
from plait.analysis.points_to import PointsTo
from plait.model.actions import Load, ReadModifyWrite, Store
from plait.model.program import Edge
from plait.symbolic.precision import Maker

# Interpolation explains paths better than merged steps: docs/symbolic.md.
FEW_PATHS = 8


class BlockPrecision:
    """`every_access`: threads are interleaved before each access to memory. `locks`: critical
    sections are single steps, but not those of `broken_locks`. `few`: values of what only ever gets
    a few are explicit, too. `most_paths`: so many paths of a block are ways of their own."""

    joins_bytes = False

    def __init__(
        self,
        points_to: PointsTo,
        *,
        every_access: bool,
        locks: bool,
        few: bool,
        broken_locks: frozenset[int],
        most_paths: int,
    ) -> None:
        self.most_paths = most_paths
        self._every_access = every_access
        self._locks = locks
        self._broken_locks = broken_locks
        self._finite = FiniteValues(points_to) if few else None

    def is_untracked(self, maker: Maker, size: int) -> bool:
        return False

    def is_lock(self, address: int) -> bool:
        return self._locks and address not in self._broken_locks

    def is_switch(self, edge: Edge) -> bool:
        return self._every_access and isinstance(edge.action, Load | Store | ReadModifyWrite)

    def is_explicit_place(self, maker: Maker, offset: int) -> bool:
        return self._finite is not None and self._finite.is_finite_place(maker, offset)

    def is_explicit_register(self, function: str, index: int) -> bool:
        return self._finite is not None and self._finite.is_finite_register(function, index)
