"""What compilers call the lines of a preprocessed file: those that its line markers name."""

from __future__ import annotations

import re
from functools import cache

from plait.model.program import SourceFile

_MARKER = re.compile(r'^\s*#\s*(?:line\s+)?(\d+)(?:\s+"((?:[^"\\]|\\.)*)")?')


class PresumedLines:
    """For each file of a program, the file and line that a debugger would show."""

    def __init__(self, sources: list[SourceFile]) -> None:
        self._sources = sources
        self._table = cache(self._read)

    def __call__(self, file: int, line: int) -> tuple[str, int]:
        table = self._table(file)
        if 1 <= line <= len(table):
            return table[line - 1]
        return self._sources[file].path, line

    def _read(self, file: int) -> list[tuple[str, int]]:
        source = self._sources[file]
        path, number = source.path, 1
        table: list[tuple[str, int]] = []
        for text in source.lines:
            marker = _MARKER.match(text)
            table.append((path, number))
            if marker is None:
                number += 1
                continue
            number = int(marker[1])
            if marker[2] is not None:
                path = marker[2]
        return table
