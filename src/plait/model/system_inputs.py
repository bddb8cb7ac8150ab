"""How the inputs are called that stand for what functions of the system write."""

from __future__ import annotations

import re

_WRITTEN = re.compile(r"written by (\w+)\(\) to argument (\d+)")


def written(function: str, argument: int) -> str:
    """What a call writes where an argument (from 1) points to."""
    return f"written by {function}() to argument {argument}"


def who_writes(name: str) -> tuple[str, int] | None:
    """The function and the argument; None for any other input."""
    found = _WRITTEN.fullmatch(name)
    return None if found is None else (found[1], int(found[2]))
