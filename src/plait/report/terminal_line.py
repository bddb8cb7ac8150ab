"""One line on a terminal that is written again and again."""

from __future__ import annotations

import os
from typing import TextIO

from plait.report.characters import clean_line


class TerminalLine:
    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._shown = 0

    def show(self, text: str) -> None:
        """Instead of what was there; as much of it as fits."""
        try:
            columns = os.get_terminal_size(self._stream.fileno()).columns or 80
            text = clean_line(text)[: columns - 1]
            blanks = " " * max(self._shown - len(text), 0)
            self._stream.write(f"\r{text}{blanks}" + ("" if text else "\r"))
            self._stream.flush()
        except (OSError, ValueError):
            pass
        self._shown = len(text)

    def clear(self) -> None:
        if self._shown:
            self.show("")
