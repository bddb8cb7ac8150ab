"""Standard streams that somebody has closed (`plait verify a.c >&-`)."""

from __future__ import annotations

import os
import sys


def open_standard_streams() -> None:
    """Where a stream is closed, what is written to it is lost, and nothing else happens. Without
    this the next file or pipe would get its number, and what is printed would go there."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            _open_nothing(number)
    if sys.stdout is None:
        sys.stdout = os.fdopen(1, "w", closefd=False)
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w", closefd=False)


def _open_nothing(number: int) -> None:
    found = os.open(os.devnull, os.O_RDWR)
    if found != number:
        os.dup2(found, number)
        os.close(found)
    os.set_inheritable(number, True)


def flush_standard_streams() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            pass  # it was never there, or nobody reads it any more
