"""A warm process that does one job after the other. Everything heavy has been imported before it
was forked; it reads the number of a job and answers with what verifying has said."""

from __future__ import annotations

import json
import os
import signal
import struct
import time
import traceback
from collections.abc import Sequence
from typing import NoReturn

from plait.bench.processes import die_with_parent, end_children, has_children
from plait.bench.records import Job, JobResult, Verify, to_plain
from plait.data import replace
from plait.errors import InputError, describe
from plait.work.limits import limit_address_space

NUMBER = struct.Struct("<I")
# Address space is not memory: libraries and arenas reserve it. This limit only catches what grows
# faster than the keeper looks.
_ADDRESS_SPACE_BESIDE_MEMORY = 2 << 30
_LONGEST_REASON = 2000


def run_worker(
    jobs: Sequence[Job],
    verify: Verify,
    memory: int | None,
    keeper: int,
    numbers: int,
    results: int,
    noise: int,
) -> NoReturn:
    """Until there are no more `numbers`; `results` and `noise` are pipes to the keeper."""
    code = 1
    try:
        die_with_parent(keeper)
        os.setpgid(0, 0)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        _redirect(noise)
        if memory is not None:
            limit_address_space(memory + _ADDRESS_SPACE_BESIDE_MEMORY)
        while data := os.read(numbers, NUMBER.size):
            result = _result(jobs[NUMBER.unpack(data)[0]], verify)
            if has_children():
                end_children()
            _write(results, result)
        code = 0
    except BaseException as error:
        os.write(2, f"{type(error).__name__}: {error}\n".encode(errors="replace"))
    finally:
        os._exit(code)


def _redirect(noise: int) -> None:
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(noise, 1)
    os.dup2(noise, 2)


def _result(job: Job, verify: Verify) -> JobResult:
    started = time.monotonic()
    try:
        result = verify(job)
    except InputError as error:
        result = JobResult("error", str(error.diagnostics[0]).split("\n")[0])
    except MemoryError:
        result = JobResult("unknown", "out of memory")
    except Exception as error:
        result = JobResult(
            "error",
            f"internal error: {describe(error)}",
            failure={"traceback": traceback.format_exc().splitlines()},
        )
    reason = result.reason[:_LONGEST_REASON]
    wall_seconds = result.wall_seconds or time.monotonic() - started
    return replace(result, reason=reason, wall_seconds=wall_seconds)


def _write(results: int, result: JobResult) -> None:
    rest = memoryview(json.dumps(to_plain(result), default=str).encode("ascii") + b"\n")
    while rest:
        rest = rest[os.write(results, rest) :]
