"""The files that options name to be written: looked at before any work is done, so that a slip in
the order of arguments (`plait verify --html a.c b.c`) costs nobody a source.

An option that writes a file has the type `target`, and that is all it has to say here.
"""

from __future__ import annotations

import argparse
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from plait.errors import InputError
from plait.files import open_regular

FORCE_HELP = "let options that write files replace files that plait has not written"

# How each form begins that plait writes. The beginning is enough: nobody's source looks like it.
_OWN = re.compile(
    rb"""\A(?:
      \{ \s* "plait-(?:result|schedule|coverage)":                                 # JSON, schedule
    | \{ "format":"plait-certificate"
    | TN:plait\n                                                                 # LCOV
    | \#\ a\ schedule\ of\ plait\ hunt\n
    | <!DOCTYPE\ html> .{1,2000}? <meta\ name="generator"\ content="plait">
    | \{ \s* "\$schema":\ "[^"]*sarif .{1,2000}? "driver":\ \{ \s* "name":\ "plait"
    | <\?xml [^>]*> \s* <testsuites\ name="plait"                                  # JUnit
    | -\ entry_type: .{1,2000}? \n\ +producer:\n\ +name:\ plait\n                  # YAML witness
    | <\?xml [^>]*> \s* <graphml .* <data\ key="producer">plait
    | digraph\ program\ \{ \s* //\ made\ by\ plait\n                               # Graphviz
    | <svg [^>]*> \s* <!--\ made\ by\ plait\ -->
    )""",
    re.DOTALL | re.VERBOSE,
)
_LONGEST_BEGINNING = 1 << 16
_SOURCES = (".c", ".i", ".h", ".yml", ".yaml", ".prp")


class Target(str):
    """The path of a file to be written."""


def target(text: str) -> Target:
    """For argparse."""
    if text == "-":
        raise argparse.ArgumentTypeError("-: name a file, standard output is for the report")
    return Target(text)


def target_or_output(text: str) -> str:
    """For argparse, where `-` is standard output."""
    return text if text == "-" else Target(text)


def check_targets(options: argparse.Namespace) -> None:
    """InputError for a file that cannot be written, or that must not."""
    known: dict[str, str] = {}
    for name, path in vars(options).items():
        if not isinstance(path, Target):
            continue
        option = f"--{name.replace('_', '-')}"
        real = _checked_place(option, path, may_be_created=options.force)
        if real in known and not is_device(path):
            raise InputError(f"{known[real]} and {option} name the same file: {path}")
        known[real] = option
        if not options.force and os.path.exists(path) and not is_device(path):
            _check_replaceable(options, option, path)


def is_device(path: str) -> bool:
    """Whether nothing is replaced by writing: a terminal, a pipe, /dev/stdout wherever it goes."""
    if Path(os.path.abspath(path)).parts[:2] in (("/", "dev"), ("/", "proc")):
        return True
    try:
        return not stat.S_ISREG(os.stat(path).st_mode)
    except OSError:
        return False


def is_own(path: str) -> bool:
    """Whether plait has written a file, or nobody has written anything into it."""
    try:
        with open_regular(path) as file:
            beginning = file.read(_LONGEST_BEGINNING)
    except OSError:
        return False
    return not beginning or _OWN.match(beginning) is not None


def _checked_place(option: str, path: Target, *, may_be_created: bool) -> str:
    """The real path; it need not exist, but its folder must."""
    place = Path(path)
    if place.is_dir():
        raise InputError(f"{option} {path}: is a directory")
    try:
        real = place.resolve()
    except (OSError, RuntimeError):  # the latter of Python before 3.13, for a loop
        raise InputError(f"{option} {path}: a symbolic link that leads nowhere") from None
    if place.is_symlink() and not real.exists() and not may_be_created:
        raise InputError(f"{option} {path}: a symbolic link to {real}, which is not there")
    if not place.parent.is_dir():
        raise InputError(f"{option} {path}: there is no directory {place.parent}")
    return str(real)


def _check_replaceable(options: argparse.Namespace, option: str, path: Target) -> None:
    if any(_is_same(path, word) for word in _inputs(options)):
        what = "is read by this command"
    elif not is_own(path):
        what = "is there already, and plait has not written it"
    else:
        return
    order = ""
    if path.endswith(_SOURCES):
        order = f"; {option} takes the file to write: {_right_order(options, option, path)}"
    raise InputError(f"{option} {path}: this file {what}{order} (--force replaces it)")


def _inputs(options: argparse.Namespace) -> Iterator[str]:
    """Every word of the command line that may name a file."""
    for value in vars(options).values():
        for word in value if isinstance(value, list) else [value]:
            if isinstance(word, str) and not isinstance(word, Target):
                yield word


def _is_same(path: str, other: str) -> bool:
    try:
        return os.path.samefile(path, other)
    except (OSError, ValueError):
        return False


def _right_order(options: argparse.Namespace, option: str, path: str) -> str:
    programs = getattr(options, "programs", [])
    first = [] if path in programs else [path]
    return " ".join(["plait", options.command, option, "FILE", *first, *programs])
