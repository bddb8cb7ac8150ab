"""The values that exploration tries for an input, and whether these are all there are."""

from __future__ import annotations

from plait.data import dataclass, field
from plait.errors import InputError
from plait.model.types import Kind
from plait.semantics.outcome import InputRequest
from plait.semantics.scalars import Number

_SMALL_DOMAIN = 256
_MOST_COUNTED = 4096


@dataclass(slots=True, eq=False)
class InputDomains:
    """All values of small domains; of larger integer types those in `declared`, and without a
    declaration a few samples. `gaps` says in which ways the values were not all."""

    declared: tuple[int, int] | None = None
    gaps: dict[str, None] = field(default_factory=dict)  # a set that keeps its order

    def __post_init__(self) -> None:
        if self.declared is not None and self.declared[0] > self.declared[1]:
            raise InputError(f"the range of inputs {self.declared[0]}..{self.declared[1]} is empty")

    def values(self, request: InputRequest) -> tuple[list[Number], bool]:
        """The values to try, and whether they are all that the program can meet."""
        scalar = request.type
        name = request.name if "'" in request.name else f"'{request.name}'"
        if scalar.kind is Kind.FLOAT:
            self._gap(f"input {name} has too many values (a floating type)")
            return [0.0, 1.0, -1.0, 0.5, 1e6], False
        lowest, highest = scalar.minimum, scalar.maximum
        if request.count is not None:
            lowest, highest = 0, request.count - 1
        size = highest - lowest + 1
        if size <= (_SMALL_DOMAIN if request.count is None else _MOST_COUNTED):
            return list(range(lowest, highest + 1)), True
        if self.declared is not None:
            low, high = max(lowest, self.declared[0]), min(highest, self.declared[1])
            self._gap(f"holds for inputs in {self.declared[0]}..{self.declared[1]}")
            return list(range(low, high + 1)), False
        self._gap(f"input {name} ({scalar}) has no declared range of values")
        samples = (0, 1, 2, -1, 10, 100, lowest, highest)
        return list(dict.fromkeys(v for v in samples if lowest <= v <= highest)), False

    def _gap(self, text: str) -> None:
        self.gaps[text] = None
