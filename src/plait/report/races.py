"""A race is a state in which two accesses are next: in what happens they have not happened yet."""

from __future__ import annotations

from plait.evidence.result import Access, Result, Row


def happened(result: Result) -> list[Row]:
    """The trace, without the two accesses of a race. (It ends with them, so that who replays it
    sees both.)"""
    rows = result.trace
    if result.violation is None or not result.violation.accesses:
        return rows
    last_steps = sorted({row.step for row in rows})[-2:]
    made = {
        step
        for access in result.violation.accesses
        if (step := _last_step(rows, access)) in last_steps
    }
    return [row for row in rows if row.step not in made]


def _last_step(rows: list[Row], access: Access) -> int | None:
    """The last step of the thread, if that is the access."""
    own = [row for row in rows if row.thread == access.thread]
    if not own or access.place is None:
        return None
    step = own[-1].step
    places = {(row.place.file, row.place.line) for row in own if row.step == step}
    return step if (access.place.file, access.place.line) in places else None
