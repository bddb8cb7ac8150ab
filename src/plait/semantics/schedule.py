"""Schedules: which thread takes the next step, and with which inputs. As files they are JSON:

    {"plait-schedule": 1,
     "steps": [{"thread": 1, "inputs": [7]}, {"thread": 2, "count": 3}]}

Under a weak memory model {"buffer": 2} is a step in which a store of thread 2 becomes visible; here
it is a step of "thread" -2.

`count` (default 1) stands for that many steps in a row; `inputs` (default none) are the values of
the inputs that these steps meet, in order. Floats are written as hexadecimal strings.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from plait.data import dataclass, field
from plait.errors import Diagnostic, InputError
from plait.files import read_regular
from plait.semantics.scalars import Number

VERSION = 1
_MARK = "plait-schedule"


@dataclass(slots=True, frozen=True)
class ScheduledStep:
    thread: int
    inputs: tuple[Number, ...] = ()
    count: int = 1


@dataclass(slots=True, eq=False)
class Schedule:
    steps: list[ScheduledStep] = field(default_factory=list)

    def __iter__(self) -> Iterator[ScheduledStep]:
        return iter(self.steps)

    def __len__(self) -> int:
        """The number of single steps."""
        return sum(step.count for step in self.steps)


def to_text(schedule: Schedule) -> str:
    rows = []
    for step in schedule:
        row: dict[str, object] = {"thread": step.thread}
        if step.thread < 0:
            row = {"buffer": -step.thread}
        if step.count != 1:
            row["count"] = step.count
        if step.inputs:
            row["inputs"] = [
                value.hex() if isinstance(value, float) else value for value in step.inputs
            ]
        rows.append("  " + json.dumps(row))
    return f'{{"{_MARK}": {VERSION}, "steps": [\n' + ",\n".join(rows) + "\n]}\n"


def from_text(text: str, path: str) -> Schedule:
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        lines = text.splitlines()
        line = lines[error.lineno - 1] if error.lineno <= len(lines) else ""
        what = f"not a schedule: {error.msg}"
        raise InputError(Diagnostic(what, path, error.lineno, error.colno, line)) from None
    except RecursionError:
        raise InputError(Diagnostic("not a schedule: nested too deeply", path)) from None
    return from_data(data, path)


def from_data(data: object, path: str) -> Schedule:
    """What JSON has for a schedule; `path` is where it comes from."""
    if not isinstance(data, dict) or _MARK not in data:
        raise InputError(Diagnostic(f"not a schedule: no '{_MARK}' in it", path))
    if data[_MARK] != VERSION:
        what = f"schedule of version {data[_MARK]!r}, this program reads version {VERSION}"
        raise InputError(Diagnostic(what, path))
    rows = data.get("steps")
    if not isinstance(rows, list):
        raise InputError(Diagnostic("a schedule needs a list 'steps'", path))
    return Schedule([_step(row, number, path) for number, row in enumerate(rows, 1)])


def read(path: str) -> Schedule:
    try:
        text = read_regular(path).decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(Diagnostic("not a schedule: not UTF-8 text", path)) from None
    except OSError as error:
        raise InputError(Diagnostic(error.strerror or str(error), path)) from None
    return from_text(text, path)


def merged(steps: Iterable[ScheduledStep]) -> Schedule:
    """A schedule in which steps of the same thread in a row are counted."""
    result: list[ScheduledStep] = []
    for step in steps:
        last = result[-1] if result else None
        if last is not None and last.thread == step.thread:
            inputs = (*last.inputs, *step.inputs)
            result[-1] = ScheduledStep(step.thread, inputs, last.count + step.count)
        else:
            result.append(step)
    return Schedule(result)


def _step(row: object, number: int, path: str) -> ScheduledStep:
    def wrong(what: str) -> InputError:
        return InputError(Diagnostic(f"step {number} of the schedule: {what}", path))

    if not isinstance(row, dict):
        raise wrong('not of the form {"thread": N, ...}')
    unknown = set(row) - {"thread", "buffer", "inputs", "count"}
    if unknown:
        raise wrong(f"unknown key '{min(unknown)}'")
    thread, count, inputs = row.get("thread"), row.get("count", 1), row.get("inputs", [])
    buffer = row.get("buffer")
    if thread is not None and buffer is not None:
        raise wrong("it is a step of a 'thread' or of a 'buffer'")
    if not _is_positive(thread if buffer is None else buffer):
        raise wrong("'thread' must be a number from 1")
    if not _is_positive(count):
        raise wrong("'count' must be a number from 1")
    if not isinstance(inputs, list):
        raise wrong("'inputs' must be a list")
    values: list[Number] = []
    for item in inputs:
        if isinstance(item, str):
            try:
                values.append(float.fromhex(item))
            except (ValueError, OverflowError):
                raise wrong(f"'{item}' is no hexadecimal float") from None
        elif isinstance(item, (int, float)) and not isinstance(item, bool):
            values.append(item)
        else:
            raise wrong(f"{item!r} is no input value")
    mover: Any = thread if buffer is None else -buffer
    return ScheduledStep(mover, tuple(values), count)


def _is_positive(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1
