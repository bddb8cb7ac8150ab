"""The one root of plait's exceptions, and diagnostics a user can act on."""

from __future__ import annotations

import os
from types import TracebackType

from plait.data import dataclass


@dataclass(slots=True, eq=False)
class Diagnostic:
    """What is wrong and where; `line` and `column` are 0 when there is no place to point at."""

    message: str
    file: str = ""
    line: int = 0
    column: int = 0
    source_line: str = ""

    def __str__(self) -> str:
        place = self.file
        if self.line:
            place += f":{self.line}:{self.column}" if self.column else f":{self.line}"
        head = f"{place}: {self.message}" if place else self.message
        if not self.source_line.strip():
            return head
        return f"{head}\n  {self.source_line.strip()[:200]}"


class PlaitError(Exception):
    """Root of every error that plait raises on purpose."""


class InputError(PlaitError):
    """The user's input cannot be used: exit code 2."""

    def __init__(self, *diagnostics: Diagnostic | str) -> None:
        self.diagnostics = tuple(
            Diagnostic(item) if isinstance(item, str) else item for item in diagnostics
        )
        super().__init__("\n".join(str(item) for item in self.diagnostics))


class UnsupportedCode(PlaitError):
    """A construct that plait does not model; it makes a verdict `unknown`, never a guess."""

    def __init__(self, diagnostic: Diagnostic | str) -> None:
        self.diagnostic = Diagnostic(diagnostic) if isinstance(diagnostic, str) else diagnostic
        super().__init__(str(self.diagnostic))


def describe(error: BaseException) -> str:
    """An unexpected exception in one line: its type, where it was raised, its text."""
    place = _innermost(error.__traceback__)
    text = " ".join(str(error).split())
    return f"{type(error).__name__}{place}" + (f": {text[:200]}" if text else "")


def _innermost(trace: TracebackType | None) -> str:
    place = ""
    while trace is not None:
        path = trace.tb_frame.f_code.co_filename.replace(os.sep, "/")
        if "/plait/" in path:
            place = f" at plait/{path.rpartition('/plait/')[2]}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place
