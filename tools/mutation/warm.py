"""A Python that has imported what tests need besides plait, and forks to run pytest.

    python -m mutation.warm

A line of standard input is a JSON list: the file for the output, then the arguments of pytest. A
process is forked for it; its number is printed, then, once it has ended, its exit code. So each run
imports plait anew, and nothing else. Which tests fail is written beside the output.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import pytest

_OTHERS = ("hypothesis", "pysat.solvers", "yaml", "jsonschema", "xdist", "z3", "clang.cindex")


class Failures:
    """A plugin that writes the names of tests that fail, and of files that cannot be imported."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._path.write_text("")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._note(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._note(report.nodeid)

    def _note(self, name: str) -> None:
        with self._path.open("a") as file:
            print(name, file=file)


def failures_beside(output: str) -> str:
    return f"{output}.failed"


def _run(output: str, arguments: list[str]) -> int:
    os.setsid()
    target = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, number in ((nothing, 0), (target, 1), (target, 2)):
        os.dup2(source, number)
    return int(pytest.main(arguments, [Failures(failures_beside(output))]))


def main() -> None:
    for module in _OTHERS:
        with suppress(ImportError):
            import_module(module)
    assert not any(name.partition(".")[0] == "plait" for name in sys.modules)
    for line in sys.stdin:
        output, *arguments = json.loads(line)
        sys.stdout.flush()
        process = os.fork()
        if not process:
            code = 70
            try:
                code = _run(output, arguments)
                sys.stdout.flush()
            finally:
                os._exit(code)
        print(process, flush=True)
        _, status = os.waitpid(process, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main()
