"""A plain process on a node: `python -m plait.bench.cluster.node`.

It says who it is, and then answers each job that it reads with a result, line by line. Every job
is done by the pool of one machine with a keeper of its own, hence with the same limits and the same
second try, and nothing of a job is left when the next one begins. When its parent is gone, so are
this process and all below it.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from plait.api import Choices
from plait.bench.cluster.shipping import unpack
from plait.bench.machine import machine, version
from plait.bench.pool import Pool
from plait.bench.records import ExecutorFailed, Interrupted, JobResult, Record
from plait.bench.verifying import verify_by_plait, warm_up
from plait.data import fields

_FOLDER = "plait-node-"  # and the process that it belongs to


class _ParentGone(Exception):
    pass


def main() -> int:
    parent = os.getppid()
    # Ray's processes block and ignore signals, and hand that down.
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    answers = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)  # what libraries print is no answer
    remove_stale_folders()
    warm_up()

    def answer(data: dict[str, Any]) -> None:
        answers.write(json.dumps(data, default=str) + "\n")
        answers.flush()

    try:
        answer({"version": version(), "machine": machine()})
        for line in sys.stdin:
            answer(result_of(line, parent))
    except (_ParentGone, Interrupted, BrokenPipeError):
        return 1
    return 0


def result_of(parcel: str, parent: int) -> dict[str, Any]:
    with _working_folder() as folder:
        job, terms = unpack(parcel, folder)
        choices: Choices = {**terms.choices}  # type: ignore[typeddict-item]
        pool = Pool(
            verify_by_plait(choices),
            seconds=terms.seconds,
            memory=terms.memory,
            tick=lambda: _leave_without(parent),
        )
        try:
            with closing(pool.run([job])) as records:
                return _result(next(records))
        except ExecutorFailed as error:
            return {"result": {"verdict": "error", "reason": str(error)}}


def _result(record: Record) -> dict[str, Any]:
    names = [item.name for item in fields(JobResult)]
    return {"result": {name: getattr(record, name) for name in names}}


def _leave_without(parent: int) -> None:
    if os.getppid() != parent:
        raise _ParentGone


@contextmanager
def _working_folder() -> Iterator[Path]:
    before = os.getcwd()
    folder = tempfile.mkdtemp(prefix=f"{_FOLDER}{os.getpid()}-")
    try:
        os.chdir(folder)
        yield Path(folder)
    finally:
        os.chdir(before)
        shutil.rmtree(folder, ignore_errors=True)


def remove_stale_folders() -> None:
    """Of processes that were killed: Ray does that to the children of a worker that it ends."""
    for path in Path(tempfile.gettempdir()).glob(f"{_FOLDER}*"):
        pid = path.name.removeprefix(_FOLDER).partition("-")[0]
        try:
            os.kill(int(pid), 0)
        except ProcessLookupError:
            shutil.rmtree(path, ignore_errors=True)
        except (ValueError, OSError):
            pass  # not ours


if __name__ == "__main__":
    sys.exit(main())
