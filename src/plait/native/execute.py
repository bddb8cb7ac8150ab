"""Run a program that was built for replay, within limits, and hear how it ends."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import IO

from plait.data import dataclass
from plait.native.errors import CannotBuild

_MOST_OUTPUT = 1 << 20
_MOST_FILE = 64 << 20
_MOST_CPU_SECONDS = 1 << 30


@dataclass(slots=True, frozen=True)
class Run:
    """`outcome` is "failed" if the expected failure showed; `detail` says what happened, `notes`
    where the run differs from the plan, `output` what the program printed."""

    outcome: str
    detail: str
    notes: tuple[str, ...]
    output: str

    @property
    def is_reproduced(self) -> bool:
        return self.outcome == "failed"


def execute(executable: Path, seconds: float, memory: int, **settings: str) -> Run:
    """One run. Time and memory are limited, the process group is killed in the end."""
    try:
        return _execute(executable, seconds, memory, settings)
    except (OSError, subprocess.SubprocessError) as error:
        what = getattr(error, "strerror", None) or error
        raise CannotBuild(f"cannot be replayed natively: it cannot be run: {what}") from None


def _execute(executable: Path, seconds: float, memory: int, settings: dict[str, str]) -> Run:
    with tempfile.TemporaryDirectory(prefix="plait-run-", ignore_cleanup_errors=True) as folder:
        report = Path(folder) / "report.txt"
        environment = {
            **os.environ,
            "LC_ALL": "C",
            "PLAIT_REPORT": str(report),
            "PLAIT_SECONDS": str(max(1, min(int(seconds + 0.999), _MOST_CPU_SECONDS))),
            **settings,
        }
        # The files are held open: the program may put something else in their place.
        with open(report, "w+b") as said, open(Path(folder) / "output.txt", "w+b") as output:
            limits = Limits(seconds, memory)
            status = run_limited([str(executable)], limits, folder, environment, output.fileno())
            return _parse(_text(said), describe_status(status, seconds), _text(output))


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(_MOST_OUTPUT).decode("utf-8", "backslashreplace")


@dataclass(slots=True, frozen=True)
class Limits:
    """Of one process and all that it starts."""

    seconds: float
    memory: int
    file_bytes: int = _MOST_FILE


def run_limited(
    command: Sequence[str],
    limits: Limits,
    folder: str | None,
    environment: dict[str, str],
    output: int,
    standard_input: int = subprocess.DEVNULL,
) -> int | None:
    """The exit status (a negative one is a signal's number), or None if the time is over. The
    process group is killed in the end; if plait itself is killed, the system kills the process."""
    set_up = _before_exec(limits)
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=standard_input,
        stdout=output,
        stderr=output,
        start_new_session=True,
        preexec_fn=set_up,
    )
    try:
        return process.wait(timeout=min(limits.seconds + 1, _MOST_CPU_SECONDS))
    except subprocess.TimeoutExpired:
        return None
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
        process.wait()


_SET_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG
_FIXED_ADDRESSES = 0x0040000  # ADDR_NO_RANDOMIZE: a run must not depend on where things lie


@cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None)


def _before_exec(limits: Limits) -> Callable[[], None]:
    cpu = min(int(limits.seconds) + 2, _MOST_CPU_SECONDS)
    rows = (
        (resource.RLIMIT_CPU, cpu),
        (resource.RLIMIT_AS, limits.memory),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, limits.file_bytes),
    )
    library = _library()

    def set_up() -> None:
        library.prctl(_SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
        library.personality(_FIXED_ADDRESSES)
        for what, most in rows:
            try:
                resource.setrlimit(what, (most, most))
            except (ValueError, OSError):
                pass

    return set_up


def describe_status(status: int | None, seconds: float) -> str:
    """How a process ended, for people."""
    if status is None:
        return f"it runs for more than {seconds:g} s"
    if status >= 0:
        return f"it ends with status {status}"
    try:
        return f"it is killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"it is killed by signal {-status}"


def _parse(report: str, how: str, output: str) -> Run:
    notes: list[str] = []
    outcome, detail = "none", how
    for line in report.splitlines():
        word, _, rest = line.partition(" ")
        if word == "note":
            notes.append(rest)
        elif word == "outcome":
            outcome, _, detail = rest.partition(" ")
    said = "".join(
        line + "\n" for line in output.splitlines() if not line.startswith(("note ", "outcome "))
    )
    return Run(outcome, detail, tuple(notes), said)
