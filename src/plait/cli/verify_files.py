"""Verifies each file as a program of its own, for tools that hand over all changed files at once:

    python -m plait.cli.verify_files [OPTION...] FILE...

The options are those of `plait verify`. As .pre-commit-hooks.yaml uses it, it must not get in the
way: only what is violated or cannot be read fails; `unknown` is said and let pass.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from itertools import takewhile

from plait.cli import exits
from plait.cli.streams import flush_standard_streams, open_standard_streams
from plait.report.characters import clean_line

_SOURCES = (".c", ".i")
_FILES = (*_SOURCES, ".h")  # headers are C too, but no programs


def main(arguments: Sequence[str] | None = None) -> int:
    given = list(sys.argv[1:] if arguments is None else arguments)
    files = list(takewhile(lambda item: item.endswith(_FILES), reversed(given)))[::-1]
    options = given[: len(given) - len(files)]
    codes = [_verify(options, file) for file in files if file.endswith(_SOURCES)]
    return max((code for code in codes if code != exits.UNKNOWN), default=exits.HOLDS)


def _verify(options: list[str], file: str) -> int:
    """What plait says is shown when there is something to do, otherwise only the verdict."""
    command = [sys.executable, "-m", "plait", "verify", *options, file]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    lines = done.stdout.splitlines()
    is_fine = done.returncode in (exits.HOLDS, exits.UNKNOWN)
    for line in lines[-1:] if is_fine else lines:
        print(f"{clean_line(file)}: {line}" if is_fine else line)
    sys.stdout.flush()
    sys.stderr.write(done.stderr)
    return done.returncode


if __name__ == "__main__":
    open_standard_streams()
    found = main()
    flush_standard_streams()
    os._exit(found)  # what nobody could read has no influence on the exit code
