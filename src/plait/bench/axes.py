"""Axes of a plot: where a value is, and which values are written beside the line."""

from __future__ import annotations

import math

from plait.data import dataclass


@dataclass(frozen=True, slots=True)
class Logarithmic:
    """From `low` to `high`, both powers of ten, on the pixels from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        clipped = min(max(value, self.low), self.high)
        part = math.log10(clipped / self.low) / math.log10(self.high / self.low)
        return self.start + part * (self.end - self.start)

    def ticks(self) -> list[float]:
        first, last = round(math.log10(self.low)), round(math.log10(self.high))
        return [10.0**exponent for exponent in range(first, last + 1)]


@dataclass(frozen=True, slots=True)
class Linear:
    """From 0 to `high`."""

    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        return self.start + value / self.high * (self.end - self.start)

    def ticks(self) -> list[float]:
        """Between four and ten round numbers, and whole ones."""
        step = 10.0 ** max(0, math.floor(math.log10(self.high / 2)))
        for factor in (1, 2, 5, 10):
            if self.high / (step * factor) <= 8:
                step *= factor
                break
        return [step * n for n in range(math.floor(self.high / step) + 1)]


def decades(values: list[float], shortest: float = 0.01) -> tuple[float, float]:
    """The powers of ten around all values; nothing below `shortest` is told apart."""
    usable = [max(value, shortest) for value in values] or [shortest]
    low = 10.0 ** math.floor(math.log10(min(usable)))
    high = 10.0 ** math.ceil(math.log10(max(usable)))
    return low, max(high, low * 10)
