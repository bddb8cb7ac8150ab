"""How a job is done: by `plait.verify`, in a process that has imported everything beforehand."""

from __future__ import annotations

import resource
import time
from importlib import import_module
from pathlib import Path
from typing import Any

from plait.api import Choices, Result, verify
from plait.bench.records import Job, JobResult, Verify, page_name
from plait.engines import registry
from plait.files import write_at_once

# By name, since nothing of them is used here: what a verification imports on its way.
HEAVY = (
    "plait.c.linker",
    "plait.evidence.counterexample",
    "plait.evidence.proof",
    "plait.evidence.replay",
    "plait.portfolio.engine_run",
    "plait.portfolio.compose",
    "plait.portfolio.run",
    "plait.portfolio.worker",
    "plait.report.html",
    "clang.cindex",
    "pysolvers",
    "z3",
)


def warm_up() -> None:
    """Import, and do no more: a process that has threads must not fork."""
    for name in (*HEAVY, *(engine.module for engine in registry.engines())):
        try:
            import_module(name)
        except ImportError:
            pass  # whoever needs it will say so


def verify_by_plait(choices: Choices, pages: Path | None = None) -> Verify:
    """Everything but program, property and engine is as `choices` say, for all jobs. `pages` is a
    folder for a page about each of them."""

    def verify_job(job: Job) -> JobResult:
        task = job.task
        started, cpu_before = time.monotonic(), _cpu_seconds()
        result = verify(
            task.files,
            **(
                choices
                | {
                    "prp": task.property_file,
                    "data_model": task.data_model,
                    "engine": job.engine,
                    "cache": False,
                }
            ),
        )
        has_failed = result.verdict == "unknown" and result.failure is not None
        found = JobResult(
            verdict="error" if has_failed else result.verdict,
            reason=result.reason,
            violated=result.violated,
            winner=result.engine if result.verdict in ("true", "false") else "",
            cpu_seconds=_cpu_seconds() - cpu_before,
            wall_seconds=time.monotonic() - started,
            memory_bytes=result.statistics.get("peak_memory_bytes") or 0,
            statistics=_statistics(result.statistics, result.bound),
            failure=result.failure,
        )
        if pages is not None:
            _write_page(pages / page_name(job.key), result)
        return found

    return verify_job


def _write_page(path: Path, result: Result) -> None:
    """A page is not worth a verdict: whatever goes wrong, there is none."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_at_once(path, result.to_html().encode("utf-8", "backslashreplace"))
    except Exception:
        path.unlink(missing_ok=True)


def _statistics(numbers: dict[str, Any], bound: int | None) -> dict[str, Any]:
    return numbers if bound is None else numbers | {"bound": bound}


def _cpu_seconds() -> float:
    """Of this process, which has done other jobs before, and of children that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime
