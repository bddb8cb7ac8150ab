"""Monitors by name: those that come with plait, and files."""

from __future__ import annotations

import os

from plait.errors import InputError
from plait.files import read_regular
from plait.monitors.automaton import Monitor
from plait.monitors.reading import read_monitor

_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "shipped")
_SUFFIX = ".mon"


def shipped() -> list[str]:
    return sorted(
        name.removesuffix(_SUFFIX) for name in os.listdir(_FOLDER) if name.endswith(_SUFFIX)
    )


def described() -> list[tuple[str, str]]:
    """Their names, and what the first line of each says."""
    found = []
    for name in shipped():
        first = read_regular(path_of(name)).decode("utf-8").split("\n")[0]
        found.append((name, first.removeprefix("//").strip()))
    return found


def path_of(name: str) -> str:
    """The file of a monitor that is named by its file, or by the name of one that plait has."""
    return os.path.join(_FOLDER, name + _SUFFIX) if name in shipped() else name


def open_monitor(name: str) -> Monitor:
    path = path_of(name)
    try:
        text = read_regular(path).decode("utf-8", "replace")
    except (OSError, ValueError) as error:
        what = getattr(error, "strerror", None) or str(error)
        raise InputError(
            f"monitor {name}: {what} (a file, or one of: {', '.join(shipped())})"
        ) from error
    return read_monitor(text, path)
