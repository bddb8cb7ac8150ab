"""Which interleavings and which explicit values the settings of the engine ask for."""

from __future__ import annotations

from plait.analysis.finite import FiniteValues
from plait.analysis.points_to import PointsTo
from plait.engines.impact.settings import Explicit, Reduction, Settings
from plait.model.actions import Load, ReadModifyWrite, Store
from plait.model.program import Edge
from plait.symbolic.precision import Maker


class ImpactPrecision:
    # Interpolation explains paths better than merged steps: docs/symbolic.md.
    most_paths = 8

    def __init__(
        self, settings: Settings, points_to: PointsTo, broken_locks: frozenset[int]
    ) -> None:
        self._broken_locks = broken_locks
        self._reduction = settings.reduction
        self._finite = FiniteValues(points_to) if settings.explicit is Explicit.FEW else None

    def is_untracked(self, maker: Maker, size: int) -> bool:
        return False

    def is_lock(self, address: int) -> bool:
        return self._reduction is Reduction.MOVERS and address not in self._broken_locks

    def is_switch(self, edge: Edge) -> bool:
        return self._reduction is Reduction.NONE and isinstance(
            edge.action, Load | Store | ReadModifyWrite
        )

    def is_explicit_place(self, maker: Maker, offset: int) -> bool:
        return self._finite is not None and self._finite.is_finite_place(maker, offset)

    def is_explicit_register(self, function: str, index: int) -> bool:
        return self._finite is not None and self._finite.is_finite_register(function, index)
