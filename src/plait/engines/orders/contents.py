"""What memory holds before anybody writes it, and private memory."""

from __future__ import annotations

from plait.engines.orders.objects import Objects
from plait.engines.orders.paths import Path
from plait.engines.orders.private import read_cell
from plait.engines.orders.unrolling import UnsetBytes
from plait.logic.terms import Terms


class Contents:
    def __init__(self, terms: Terms, objects: Objects, unset_bytes: UnsetBytes) -> None:
        self._terms = terms
        self._objects = objects
        self._unknown_bytes = unset_bytes

    def of(self, address: int, size: int) -> int:
        """Of a cell that nobody has written."""
        instance = self._objects.at(address, size)
        assert instance is not None
        if instance.contents is not None:
            offset = address - instance.address
            data = instance.contents[offset : offset + size]
            return self._terms.constant(int.from_bytes(data, "little"), 8 * size)
        return self._unknown(address, size)

    def _unknown(self, address: int, size: int) -> int:
        """Indeterminate bytes: one variable where they are first asked for, so that another
        access that overlaps gets the same bytes."""
        terms = self._terms
        owners = [self._unknown_bytes.get(place) for place in range(address, address + size)]
        if not any(owners):
            variable = terms.fresh("unknown", 8 * size)
            for place in range(address, address + size):
                self._unknown_bytes[place] = (address, size, variable)
            return variable
        if owners[0] is not None and owners[0][:2] == (address, size):
            return owners[0][2]
        result: int | None = None
        for place in range(address, address + size):
            start, _, variable = self._unknown_bytes.get(place) or (place, 1, 0)
            if not self._unknown_bytes.get(place):
                variable = terms.fresh("unknown", 8)
                self._unknown_bytes[place] = (place, 1, variable)
            byte = terms.extract(variable, 8 * (place - start), 8)
            result = byte if result is None else terms.concat(byte, result)
        assert result is not None
        return result

    def private(self, address: int, size: int, path: Path) -> int:
        return read_cell(self._terms, path.memory, address, size, self.of)
