"""Source lines and names of variables for what is in a trace."""

from __future__ import annotations

import os
from bisect import bisect_right
from pathlib import Path

from plait.hunt.trace import PENDING, READ, SYNC, UPDATE, WRITE, Operation

_VERBS = {READ: "reads", WRITE: "writes", UPDATE: "updates"}


class Places:
    def __init__(self, folder: Path) -> None:
        self._lines: dict[int, str] = {}
        for row in _rows(folder / "sites.txt"):
            after, _, place = row.partition(" ")
            _, _, place = place.partition(" ")
            file, colon, line = place.rpartition(":")
            if colon and not file.startswith("?"):
                self._lines[int(after, 16)] = f"{os.path.basename(file)}:{line}"
        symbols: list[tuple[int, int, str]] = []
        for row in _rows(folder / "symbols.txt"):
            words = row.split()
            if len(words) == 4 and len(words[2]) == 1:
                symbols.append((int(words[0], 16), int(words[1], 16), words[3]))
        self._symbols = sorted(symbols)
        self._starts = [item[0] for item in self._symbols]

    def line(self, pc: int) -> str:
        return self._lines.get(pc, "")

    def line_numbers(self) -> dict[int, int]:
        """Of each place in the program whose line is known."""
        numbers = ((pc, line.rpartition(":")[2]) for pc, line in self._lines.items())
        return {pc: int(number) for pc, number in numbers if number.isdecimal()}

    def variable(self, address: int) -> str:
        at = bisect_right(self._starts, address) - 1
        if at < 0:
            return ""
        start, size, name = self._symbols[at]
        if not start <= address < start + size:
            return ""
        return name if address == start else f"{name}+{address - start}"

    def describe(self, operation: Operation) -> str:
        name = self.variable(operation.address) if operation.address else ""
        kind = operation.pending_kind if operation.kind == PENDING else operation.kind
        if kind == SYNC or operation.name:
            return f"{operation.name}({name})" if name else operation.name
        what = name or _region(operation)
        value = "" if operation.value is None else _value(operation)
        return f"{_VERBS.get(kind, 'chooses')} {what}{value}"


def _region(operation: Operation) -> str:
    """What has no name is told by where it lies."""
    heap, number = divmod(operation.address - 0x100000000000, 0x100000000)
    if 0 < heap <= 512:
        return f"heap memory {heap}:{number:#x}"
    return f"memory {operation.address:#x}"


def _value(operation: Operation) -> str:
    sign = "is" if operation.kind == READ else "="
    return f" ({sign} {operation.value})"


def _rows(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return []
