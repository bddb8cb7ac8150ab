"""One run of the program under our scheduler."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

from plait.data import dataclass
from plait.errors import InputError
from plait.hunt.schedule import Schedule
from plait.hunt.trace import Trace
from plait.native.execute import Limits, describe_status, run_limited

_MOST_FILE = 4 << 30
_MOST_OUTPUT = 1 << 20


@dataclass(slots=True, frozen=True)
class Program:
    """What is executed, and within which limits. `folder` is where: a new one for each run if it is
    None."""

    executable: Path
    arguments: tuple[str, ...]
    properties: tuple[str, ...]
    folder: str | None
    standard_input: str | None
    seconds: float
    memory: int
    operations: int


@dataclass(slots=True, frozen=True)
class Run:
    """`how` is "failed" for a failure, "ended" for a run to the end; `detail` says more. `trace` is
    there unless the program never began."""

    how: str
    detail: str
    trace: Trace | None

    @property
    def is_failure(self) -> bool:
        return self.how == "failed"

    @property
    def violated(self) -> str:
        return self.detail.partition(":")[0] if self.is_failure else ""


class Runner:
    """Runs a program; its files are used again for each run."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.runs = 0
        self.operations = 0
        self._folder = tempfile.TemporaryDirectory(prefix="plait-hunt-", ignore_cleanup_errors=True)
        self._record = Path(self._folder.name) / "record"
        self._schedule = Path(self._folder.name) / "schedule"
        self._output = Path(self._folder.name) / "output"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._folder.cleanup()

    def output(self) -> str:
        """What the last run has printed."""
        try:
            with open(self._output, "rb") as file:
                return file.read(_MOST_OUTPUT).decode("utf-8", "backslashreplace")
        except OSError:
            return ""

    def run(self, schedule: Schedule, policy: str = "first", **settings: object) -> Run:
        self._schedule.write_text(schedule.text())
        self._record.unlink(missing_ok=True)
        environment = {
            **os.environ,
            "PLAIT_STRATEGY": "hunt",
            "PLAIT_POLICY": policy,
            "PLAIT_PROPERTIES": ",".join(self.program.properties),
            "PLAIT_RECORD": str(self._record),
            "PLAIT_SCHEDULE": str(self._schedule),
            "PLAIT_OPERATIONS": str(self.program.operations),
            **{f"PLAIT_{name.upper()}": str(value) for name, value in settings.items()},
        }
        status = self._execute(environment)
        self.runs += 1
        trace = self._trace()
        if trace is not None:
            self.operations += trace.count
        return self._result(status, trace)

    def _execute(self, environment: dict[str, str]) -> int | None:
        program = self.program
        limits = Limits(program.seconds, program.memory, _MOST_FILE)
        command = [str(program.executable), *program.arguments]
        with (
            open(self._output, "wb") as output,
            open(program.standard_input or os.devnull) as given,
        ):
            files = output.fileno(), given.fileno()
            if program.folder is not None:
                return run_limited(command, limits, program.folder, environment, *files)
            with tempfile.TemporaryDirectory(
                prefix="plait-run-", ignore_cleanup_errors=True
            ) as folder:
                return run_limited(command, limits, folder, environment, *files)

    def _trace(self) -> Trace | None:
        try:
            return Trace(self._record)
        except (OSError, ValueError):
            return None

    def _result(self, status: int | None, trace: Trace | None) -> Run:
        seconds = self.program.seconds
        if trace is None:
            if status is None:
                return Run("endless", "it does not come to its start", None)
            return Run("none", f"{describe_status(status, seconds)} before it begins", None)
        how, _, detail = trace.outcome.strip().partition(" ")
        if how and how != "exec":
            return Run(how, detail, trace)
        if status is None:
            return Run("endless", describe_status(status, seconds), trace)
        if how == "exec":
            return Run(how, detail, trace)
        if status < 0:
            return Run("failed", f"crash: {describe_status(status, seconds)}", trace)
        return Run("none", f"{describe_status(status, seconds)}, unseen by the runtime", trace)


def check_input(path: str | None) -> None:
    if path is None:
        return
    try:
        with open(path, "rb"):
            pass
    except OSError as error:
        raise InputError(f"--input {path}: {error.strerror or error}") from None
