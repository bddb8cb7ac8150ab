"""Writing what nobody needs: progress on standard error, whose reader may be slow or gone."""

from __future__ import annotations

import os
import select
import sys


class Writer:
    """A terminal that was stopped with Ctrl-S, or a pipe that nobody reads, must not keep plait
    from watching its engines and the clock: what cannot be written at once is dropped."""

    _is_gone = False

    def write(self, text: str, patience: float = 0.0) -> bool:
        """Whether it was written; `patience` is how many seconds to wait for room."""
        if self._is_gone or sys.stderr is None:
            return False
        try:
            return self._write(text, patience)
        except (OSError, ValueError):
            self._is_gone = True
            return False

    def _write(self, text: str, patience: float) -> bool:
        try:
            file = sys.stderr.fileno()
        except (OSError, ValueError):  # it is no file, but an object that somebody has put there
            sys.stderr.write(text)
            sys.stderr.flush()
            return True
        sys.stderr.flush()
        if not _has_room(file, patience):
            return False
        rest = memoryview(text.encode(sys.stderr.encoding or "ascii", "replace"))
        while rest:
            rest = rest[os.write(file, rest) :]
        return True


def _has_room(file: int, patience: float) -> bool:
    if not hasattr(select, "poll"):
        return True
    poll = select.poll()
    poll.register(file, select.POLLOUT)
    return any(event & select.POLLOUT for _, event in poll.poll(patience * 1000))
