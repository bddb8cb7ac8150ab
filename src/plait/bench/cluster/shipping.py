"""A job for another machine: the contents of its files go with it.

Names are kept relative to the folder that all files of the task have in common, so that neither
verdict nor reason depends on where the suite is. What the sources include goes with them, as far as
the task knows (`required`): not what is found through the include path.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from plait.bench.records import Job
from plait.bench.suite import Task
from plait.data import asdict, dataclass, replace

_BYTES = "latin-1"  # one character for each byte, whatever the encoding of the file


@dataclass(frozen=True, slots=True)
class Terms:
    """Under what a job is done: `choices` for verifying; `seconds` and `memory` bound it from
    outside, as in the pool."""

    choices: Mapping[str, Any]
    seconds: float | None = None
    memory: int | None = None


def job_to_plain(job: Job) -> dict[str, Any]:
    return {"task": asdict(job.task), "engine": job.engine}


def job_from_plain(data: dict[str, Any]) -> Job:
    task = data["task"]
    lists = {name: tuple(task[name]) for name in ("files", "required")}
    return Job(Task(**(task | lists)), data["engine"])


def pack(job: Job, terms: Terms) -> str:
    """One line. A file that cannot be read is left out: verifying will say so."""
    task = job.task
    names = _relative_names([*task.files, *task.required, task.property_file])
    moved = replace(
        task,
        path=Path(task.path).name,
        files=tuple(names[path] for path in task.files),
        required=tuple(names[path] for path in task.required),
        property_file=names[task.property_file],
    )
    contents = {}
    for path, name in names.items():
        try:
            contents[name] = Path(path).read_bytes().decode(_BYTES)
        except OSError:
            pass
    shipped = job_to_plain(Job(moved, job.engine))
    return json.dumps({"job": shipped, "files": contents, "terms": asdict(terms)})


def unpack(parcel: str, folder: Path) -> tuple[Job, Terms]:
    """The job with its files below `folder`, by names that are relative to it. Raises ValueError
    for a name that leads out of it."""
    data = json.loads(parcel)
    for name, text in data["files"].items():
        if os.path.isabs(name) or ".." in Path(name).parts:
            raise ValueError(f"'{name}' is no name inside a folder")
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode(_BYTES))
    return job_from_plain(data["job"]), Terms(**data["terms"])


def _relative_names(paths: list[str]) -> dict[str, str]:
    full = {path: os.path.abspath(path) for path in paths}
    root = os.path.commonpath([os.path.dirname(path) for path in full.values()])
    return {path: os.path.relpath(place, root) for path, place in full.items()}
