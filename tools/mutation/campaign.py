"""Apply each edit of the list to a copy of the tree, and see whether a test notices.

    PYTHONPATH=tools python -m mutation.campaign [--jobs N] [PATTERN ...]

Patterns are parts of names, or like `impact-*`. The tests that an edit names have to pass without
it and to fail with it. Exit code 1 if an edit survives, 2 if the list or the tree is not in order.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatch
from itertools import count
from pathlib import Path
from queue import Queue
from select import select
from typing import IO

from mutation.edits import ROOT, Edit, all_edits, problems
from mutation.warm import failures_beside

# With these, a test fails in its own process, and one in the process that it starts: they show that
# the edited copy is what is imported.
_BREAK = "raise RuntimeError('the edited copy')"
CANARIES = (
    Edit(
        "canary",
        "src/plait/errors.py",
        "from __future__ import annotations",
        f"from __future__ import annotations\n{_BREAK}",
        "nothing can be imported",
        ("tests/cli/test_main.py::test_version",),
    ),
    Edit(
        "canary-child",
        "src/plait/__main__.py",
        "import sys",
        f"{_BREAK}\nimport sys",
        "no command starts",
        ("tests/cli/test_explore.py::test_interrupt_gives_the_best_partial_answer",),
    ),
)
_LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv", "out", "__pycache__", ".*_cache", ".hypothesis", "*.egg-info"
)
_TIMES = count(1_000_000_000, 10)
_MEMORY = 8 << 30  # of a process: an edit may make a search endless


@dataclass(frozen=True, slots=True)
class Finding:
    edit: Edit
    verdict: str  # killed, hangs, survived
    test: str
    seconds: float


class Copy:
    """A copy of the tree whose tests import what is in it."""

    def __init__(self, folder: Path, timeout: float) -> None:
        self._folder = folder
        self._timeout = timeout
        shutil.copytree(ROOT, folder, ignore=_LEFT_OUT, symlinks=True)
        (folder / ".venv").symlink_to(ROOT / ".venv")
        self._environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(str(folder / part) for part in ("src", "tools")),
            "PYTHONPYCACHEPREFIX": str(folder / ".bytecode"),
        }
        self._environment.pop("PYTHONDONTWRITEBYTECODE", None)
        self._python: subprocess.Popen[bytes] | None = None

    @contextmanager
    def edited(self, edit: Edit) -> Iterator[None]:
        path = self._folder / edit.file
        before = path.read_text()
        self._write(path, edit.applied(before))
        try:
            yield
        finally:
            self._write(path, before)

    @staticmethod
    def _write(path: Path, text: str) -> None:
        # A time of its own for each text: bytecode of another one is never taken for it.
        path.write_text(text)
        moment = next(_TIMES)
        os.utime(path, (moment, moment))

    def run(self, tests: Sequence[str], *options: str) -> tuple[str, str]:
        """How the tests end: passed, failed, hang; and the first that does not pass, or what
        pytest says if it could not run them."""
        output = str(self._folder / ".output")
        arguments = ["-p", "no:cacheprovider", "--tb=no", "--hypothesis-profile=unshrunk"]
        asked, answers = self._warm_python()
        asked.write(json.dumps([output, *arguments, *options, *tests]).encode() + b"\n")
        process = int(answers.readline())
        if not select([answers], [], [], self._timeout)[0]:
            os.killpg(process, signal.SIGKILL)
            answers.readline()
            return "hang", ""
        code = int(answers.readline())
        if code == 0:
            return "passed", ""
        failed = Path(failures_beside(output)).read_text().splitlines()
        if code == 1 and failed:
            return "failed", failed[0]
        return "broken", Path(output).read_text(errors="replace")[-2000:]

    def _warm_python(self) -> tuple[IO[bytes], IO[bytes]]:
        if self._python is None:
            self._python = subprocess.Popen(
                [sys.executable, "-m", "mutation.warm"],
                bufsize=0,
                cwd=self._folder,
                env=self._environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
        assert self._python.stdin and self._python.stdout
        return self._python.stdin, self._python.stdout

    def close(self) -> None:
        if self._python is not None:
            self._python.communicate()

    def tried(self, edit: Edit) -> Finding:
        began = time.monotonic()
        with self.edited(edit):
            end, what = self.run(edit.tests, "-x")
        # An edit that cannot even be imported is no edit that a test has noticed.
        verdict = {"passed": "survived", "hang": "hangs", "failed": "killed"}.get(end, "broken")
        return Finding(edit, verdict, what, time.monotonic() - began)


def selected(edits: list[Edit], patterns: Sequence[str]) -> list[Edit]:
    def fits(name: str) -> bool:
        return any(pattern in name or fnmatch(name, pattern) for pattern in patterns)

    return [edit for edit in edits if not patterns or fits(edit.name)]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Do the tests notice wrong edits?")
    parser.add_argument("patterns", nargs="*", metavar="PATTERN", help="only edits of such names")
    parser.add_argument("--jobs", type=int, default=1, metavar="N")
    parser.add_argument("--timeout", type=float, default=300, metavar="SECONDS", help="of a test")
    options = parser.parse_args(arguments)
    everything = all_edits()
    wrong = problems(everything)
    edits = selected(everything, options.patterns)
    if wrong or not edits:
        print("\n".join(wrong) or "no edit has such a name", file=sys.stderr)
        return 2
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    with tempfile.TemporaryDirectory(prefix="plait-mutation-") as folder:
        copies = [Copy(Path(folder) / str(n), options.timeout) for n in range(options.jobs)]
        try:
            problem = _unfit(copies[0])
            findings = []
            for finding in _findings(copies, edits if not problem else []):
                findings.append(finding)
                print(_row(finding), flush=True)
            problem = problem or _fails_anyway(copies[0], findings)
        finally:
            for copy in copies:
                copy.close()
    if problem:
        print(problem, file=sys.stderr)
        return 2
    return _summary(findings)


def _unfit(copy: Copy) -> str:
    for canary in CANARIES:
        if copy.run(canary.tests)[0] != "passed":
            return f"without any edit, {canary.tests} fails"
        with copy.edited(canary):
            if copy.run(canary.tests)[0] == "passed":
                return f"{canary.tests} does not see the edited copy: nothing would be noticed"
    return ""


def _fails_anyway(copy: Copy, findings: list[Finding]) -> str:
    """Only a test that passes without any edit has noticed one."""
    tests = dict.fromkeys(finding.test for finding in findings if finding.verdict == "killed")
    end, what = copy.run(list(tests)) if tests else ("passed", "")
    return f"without any edit: {end} {what}" if end != "passed" else ""


def _findings(copies: list[Copy], edits: list[Edit]) -> Iterator[Finding]:
    free: Queue[Copy] = Queue()
    for copy in copies:
        free.put(copy)

    def look_at(edit: Edit) -> Finding:
        copy = free.get()
        try:
            return copy.tried(edit)
        finally:
            free.put(copy)

    with ThreadPoolExecutor(len(copies)) as pool:
        yield from pool.map(look_at, edits)


def _row(finding: Finding) -> str:
    what = finding.test if finding.verdict != "survived" else finding.edit.why
    return f"{finding.verdict:9}{finding.seconds:6.1f} s  {finding.edit.name:34} {what}"


def _summary(findings: list[Finding]) -> int:
    counts = {
        verdict: sum(finding.verdict == verdict for finding in findings)
        for verdict in ("killed", "hangs", "survived", "broken")
    }
    print(", ".join(f"{number} {verdict}" for verdict, number in counts.items() if number))
    return 1 if counts["survived"] or counts["broken"] else 0


if __name__ == "__main__":
    sys.exit(main())
