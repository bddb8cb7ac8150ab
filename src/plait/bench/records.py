"""What is to be done, what came out of it, and whether that is right.

These are all that an executor has to know: it turns jobs into records, in any order, here or on
other machines. `plait.bench.pool` is the one with processes of this machine.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Sequence
from hashlib import sha256
from typing import Any, Protocol

from plait.bench.suite import Task
from plait.data import asdict, dataclass, field, fields
from plait.report.characters import one_line

Key = tuple[str, str, str]  # task, property, engine
VERDICTS = ("true", "false", "unknown", "error")

CORRECT = "correct"
WRONG = "wrong"
UNKNOWN = "unknown"
UNJUDGED = "unjudged"  # a verdict that there is nothing to compare with


def label(key: Sequence[str]) -> str:
    """For people, in one line: names of files may hold anything."""
    return one_line(" ".join(key))


def page_name(key: Key) -> str:
    """Of the page about one job: a name that every system takes, and no other job has."""
    words = re.sub(r"[^A-Za-z0-9._]+", "-", "-".join(key)).strip("-.")[:100]
    digest = sha256("\n".join(key).encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return f"{words}-{digest}.html"


@dataclass(frozen=True, slots=True)
class Job:
    task: Task
    engine: str

    @property
    def key(self) -> Key:
        return self.task.name, self.task.property_name, self.engine


@dataclass(frozen=True, slots=True)
class JobResult:
    """What verifying has said and cost. `error` is a verdict too: the tool has failed, or could not
    use the input. `winner` is the engine that has decided, of those that ran. `failure` is there if
    plait itself has failed, and has what is needed to find out why."""

    verdict: str
    reason: str = ""
    violated: str | None = None
    winner: str = ""
    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0
    memory_bytes: int = 0
    statistics: dict[str, Any] = field(default_factory=dict)
    failure: dict[str, Any] | None = None


Verify = Callable[[Job], JobResult]


class Interrupted(Exception):
    """The user has ended the run; what is finished has been handed out."""


class ExecutorFailed(Exception):
    """There is nobody left to do the rest."""


class Executor(Protocol):
    def run(self, jobs: Sequence[Job]) -> Generator[Record]:
        """A record for each job as soon as it is there. Whoever stops listening (`close` of the
        iterator) ends all work. Raises Interrupted and ExecutorFailed."""


@dataclass(frozen=True, slots=True)
class Record:
    """A finished job: one line of the journal, one row of the results."""

    task: str
    property_name: str
    engine: str
    expected: bool | None
    verdict: str
    reason: str = ""
    violated: str | None = None
    subproperty: str | None = None
    winner: str = ""
    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0
    memory_bytes: int = 0
    fingerprint: str = ""
    statistics: dict[str, Any] = field(default_factory=dict)
    failure: dict[str, Any] | None = None

    @property
    def key(self) -> Key:
        return self.task, self.property_name, self.engine

    @property
    def folder(self) -> str:
        return self.task.rpartition("/")[0]

    @property
    def status(self) -> str:
        if self.verdict not in ("true", "false"):
            return UNKNOWN
        if self.expected is None:
            return UNJUDGED
        if (self.verdict == "true") != self.expected:
            return WRONG
        is_other_part = None not in (self.subproperty, self.violated)
        if not self.expected and is_other_part and self.subproperty != self.violated:
            return WRONG
        return CORRECT

    @property
    def is_solved(self) -> bool:
        return self.status == CORRECT


def record_of(job: Job, result: JobResult) -> Record:
    task = job.task
    return Record(
        task=task.name,
        property_name=task.property_name,
        engine=job.engine,
        expected=task.expected,
        verdict=result.verdict if result.verdict in VERDICTS else "error",
        reason=result.reason,
        violated=result.violated,
        subproperty=task.subproperty,
        winner=result.winner,
        cpu_seconds=round(result.cpu_seconds, 6),
        wall_seconds=round(result.wall_seconds, 6),
        memory_bytes=result.memory_bytes,
        fingerprint=task.fingerprint,
        statistics=result.statistics,
        failure=result.failure,
    )


def to_plain(record: Record | JobResult) -> dict[str, Any]:
    return asdict(record)


def record_from_plain(data: dict[str, Any]) -> Record:
    """Raises TypeError and KeyError for what is no record; names of later versions are ignored."""
    return Record(**_known(Record, data))


def result_from_plain(data: dict[str, Any]) -> JobResult:
    return JobResult(**_known(JobResult, data))


def _known(kind: type[Record] | type[JobResult], data: dict[str, Any]) -> dict[str, Any]:
    names = {item.name for item in fields(kind)}
    return {name: value for name, value in data.items() if name in names}
