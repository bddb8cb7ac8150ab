"""What the library has: which source defines what, and functions without models."""

from __future__ import annotations

import os
import re

from plait.c import toolchain

_DEFINITION = re.compile(
    r"^(?!static\b|extern\b|typedef\b)[A-Za-z_][\w \t*]*?(\w+)\([^;{}]*\)\s*\{", re.MULTILINE
)


_VARIABLE = re.compile(
    r"^(?!static\b|extern\b|typedef\b)(?:_Thread_local )?[A-Za-z_][\w *]*[ *]\(?\*?(\w+)\)?"
    r"(?:\[[^\n\]]*\]|\(void\))?(?: = [^\n;]*)?;$",
    re.MULTILINE,
)


def index_library() -> tuple[dict[str, str], dict[str, str]]:
    """Which of the library's sources defines which function, and which variable."""
    functions: dict[str, str] = {}
    variables: dict[str, str] = {}
    for file in sorted(os.listdir(toolchain.LIBRARY_SOURCES)):
        if file.endswith(".c"):
            path = os.path.join(toolchain.LIBRARY_SOURCES, file)
            with open(path, encoding="utf-8") as stream:
                text = stream.read()
            for name in _DEFINITION.findall(text):
                functions.setdefault(name, file)
            for name in _VARIABLE.findall(text):
                variables.setdefault(name, file)
    return functions, variables


def read_list(name: str) -> dict[str, str]:
    """Lines of `function: what is said of it`."""
    found: dict[str, str] = {}
    path = os.path.join(toolchain.LIBRARY_SOURCES, name)
    with open(path, encoding="utf-8") as stream:
        for line in stream:
            word, _, reason = line.strip().partition(":")
            if word and not word.startswith("#"):
                found[word.strip()] = reason.strip()
    return found


_CANCELLATION = {
    "always": "pthread_testcancel",
    "possibly": "__plait_possible_cancellation_point",
}


def read_cancellation_points() -> dict[str, str]:
    """Functions that are cancellation points, with the model of what they are as such."""
    found: dict[str, str] = {}
    path = os.path.join(toolchain.LIBRARY_SOURCES, "cancellation.txt")
    with open(path, encoding="utf-8") as stream:
        for line in stream:
            if not line.startswith("#"):
                when, _, names = line.partition(":")
                found.update(dict.fromkeys(names.split(), _CANCELLATION[when]))
    return found
