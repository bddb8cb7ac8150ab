"""A run from beginning to end: what is to be done, what is done already, and the files about it."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from enum import Enum
from pathlib import Path
from typing import Any

from plait.bench.cluster.executor import Cluster, ClusterExecutor
from plait.bench.compare import Comparison, compare, lines
from plait.bench.files import to_csv, to_json
from plait.bench.journal import BEGINNING, Journal, JournalFailed, open_journal
from plait.bench.journal import NAME as JOURNAL
from plait.bench.machine import machine, version
from plait.bench.page import to_page
from plait.bench.pool import Pool
from plait.bench.progress import Progress
from plait.bench.records import (
    Executor,
    ExecutorFailed,
    Interrupted,
    Job,
    Key,
    Record,
    Verify,
    page_name,
)
from plait.bench.suite import Flaw, Task
from plait.bench.table import to_markdown
from plait.data import dataclass, field
from plait.errors import describe
from plait.files import write_at_once
from plait.report.characters import to_bytes

Say = Callable[[str], None]
MakeExecutor = Callable[[Progress], Executor]

PAGES = "tasks"  # the folder of pages about single jobs
_FILES = ("results.csv", "results.json", "summary.html", "summary.md")
_GRACE_SECONDS = 10.0
_GRACE_PART = 0.1


class End(Enum):
    COMPLETE = "complete"
    INTERRUPTED = "interrupted"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Settings:
    """What a result depends on besides task and engine; `options` are those of the engines."""

    timeout: float | None = None
    memory_limit: float | None = None  # GiB
    options: dict[str, Any] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        return {
            "plait": version(),
            "timeout": self.timeout,
            "memory_limit": self.memory_limit,
            "options": self.options,
        }


@dataclass(frozen=True, slots=True)
class Run:
    """What a run has come to. `trouble` says why it is not complete, and what was not written;
    `written` are the names of files in its folder."""

    records: list[Record]
    total: int
    end: End
    trouble: list[str]
    written: list[str] = field(default_factory=list)

    @property
    def wrong(self) -> list[Record]:
        return [record for record in self.records if record.status == "wrong"]


def jobs_of(tasks: Sequence[Task], engines: Sequence[str]) -> list[Job]:
    return [Job(task, engine) for task in tasks for engine in engines]


def outer_limits(settings: Settings) -> tuple[float | None, int | None]:
    """Seconds and bytes for a job's processes, far above the limits that verifying keeps."""
    timeout, gibibytes = settings.timeout, settings.memory_limit
    seconds = None if timeout is None else timeout * (1 + _GRACE_PART) + _GRACE_SECONDS
    memory = None if gibibytes is None else int(gibibytes * (1 << 30))
    return seconds, memory


def local_pool(verify: Verify, settings: Settings, workers: int) -> MakeExecutor:
    """Processes of this machine."""
    limits = outer_limits(settings)
    return lambda progress: Pool(verify, workers, *limits, progress.started, progress.tick)


def on_cluster(cluster: Cluster) -> MakeExecutor:
    return lambda progress: ClusterExecutor(cluster, progress.started, progress.note, progress.tick)


def is_foreign(out: Path) -> bool:
    """Whether a folder has files that a run would replace and that no run has written."""
    try:
        with open(out / JOURNAL, "rb") as file:
            beginning = file.read(len(BEGINNING))
    except (FileNotFoundError, NotADirectoryError):
        beginning = b""
    except OSError:
        return False  # to open it will fail for the same reason
    if beginning:
        return beginning != BEGINNING
    return any(os.path.lexists(out / name) for name in _FILES)


def run_suite(
    jobs: Sequence[Job],
    settings: Settings,
    executor: MakeExecutor,
    out: Path,
    say: Say,
    *,
    old: Sequence[Record] | None = None,
    flaws: Sequence[Flaw] = (),
    fresh: bool = False,
    quiet: bool = False,
    where: Callable[[], dict[str, Any]] = machine,
    ended: Callable[[], None] = lambda: None,
) -> Run:
    """Do what is not done yet, write everything into `out`, also about the `flaws` of the suite;
    `ended` is called when no job is running any more, `where` tells then what they were done on.
    Raises InputError if `out` belongs to other settings or to another run."""
    plain = settings.plain()
    try:
        journal = open_journal(out, plain, fresh=fresh)
    except JournalFailed as error:
        return Run([], len(jobs), End.FAILED, [f"cannot write {error}"])
    with journal:
        pending = [job for job in jobs if not _is_done(job, journal)]
        done = len(jobs) - len(pending)
        if done:
            say(f"resuming: {done} of {len(jobs)} done; --fresh to start over")
        for job in pending:  # pages of an earlier run are about something else
            (out / PAGES / page_name(job.key)).unlink(missing_ok=True)
        progress = Progress(len(jobs), done, None if quiet else say)
        try:
            end, trouble = _work(executor(progress), pending, journal, progress)
        finally:
            progress.clear()
        ended()
        records = [journal.records[job.key] for job in jobs if _is_done(job, journal)]
        comparisons = [] if old is None else compare(old, records)
        pages = {
            record.key: f"{PAGES}/{name}"
            for record in records
            if (out / PAGES / (name := page_name(record.key))).exists()
        }
        written, failed = _write(
            out, _contents(records, plain, where(), len(jobs), comparisons, flaws, pages)
        )
    for item in comparisons:
        for line in lines(item):
            say(line)
    return Run(records, len(jobs), end, trouble + failed, written)


def _is_done(job: Job, journal: Journal) -> bool:
    record = journal.records.get(job.key)
    return record is not None and record.fingerprint == job.task.fingerprint


def _work(
    executor: Executor, jobs: Sequence[Job], journal: Journal, progress: Progress
) -> tuple[End, list[str]]:
    try:
        with closing(executor.run(jobs)) as records:
            for record in records:
                journal.append(record)
                progress.finished(record)
    except (Interrupted, KeyboardInterrupt):
        return End.INTERRUPTED, []
    except JournalFailed as error:
        return End.FAILED, [f"cannot write {error}; what was finished before is kept"]
    except ExecutorFailed as error:
        return End.FAILED, [str(error)]
    return End.COMPLETE, []


def _contents(
    records: Sequence[Record],
    settings: dict[str, Any],
    here: dict[str, Any],
    total: int,
    comparisons: Sequence[Comparison],
    flaws: Sequence[Flaw],
    pages: Mapping[Key, str],
) -> dict[str, Callable[[], str]]:
    facts = (records, settings, here, total, comparisons, flaws)
    makers: list[Callable[[], str]] = [
        lambda: to_csv(records),
        lambda: to_json(*facts),
        lambda: to_page(*facts, pages),
        lambda: to_markdown(records),
    ]
    return dict(zip(_FILES, makers, strict=True))


def _write(out: Path, contents: dict[str, Callable[[], str]]) -> tuple[list[str], list[str]]:
    """The names of what was written, and why the rest was not: one file that fails, for whatever
    reason, must not cost the others."""
    written, trouble = [], []
    for name, content in contents.items():
        try:
            write_at_once(out / name, to_bytes(content()))
        except OSError as error:
            trouble.append(f"cannot write {out / name}: {error.strerror or error}")
        except Exception as error:
            trouble.append(f"cannot write {out / name}: internal error: {describe(error)}")
            if os.environ.get("PLAIT_TRACEBACK"):
                trouble += traceback.format_exc().splitlines()
        else:
            written.append(name)
    return written, trouble
