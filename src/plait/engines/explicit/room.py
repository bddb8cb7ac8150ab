"""How much memory there is for states: the engine gives up before it gets short."""

from __future__ import annotations

import os
import resource
import sys

_SHARE_OF_LIMIT = 0.8  # the rest is for what is not states, and for counting late
_SHARE_OF_FREE = 0.5  # other engines work beside this one
_UNKNOWN_FREE = 2 << 30


class Room:
    def __init__(self) -> None:
        self.limit = _limit()

    @property
    def is_used_up(self) -> bool:
        return used() > self.limit


def used() -> int:
    """The memory of this process, in bytes; where the system does not tell, the most it has had."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most << 10


def _limit() -> int:
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    found = used() + int(_free() * _SHARE_OF_FREE)
    if soft != resource.RLIM_INFINITY:
        found = min(found, int(soft * _SHARE_OF_LIMIT))
    return found


def _free() -> int:
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) << 10
    except (OSError, ValueError, IndexError):
        pass
    return _UNKNOWN_FREE
