"""Steps and places in one line of text each, for formats that list them below each other."""

from __future__ import annotations

from plait.evidence.result import Access, Place, Result, Row, Violation
from plait.report.characters import one_line
from plait.report.phrases import access_phrases, operation_phrase

EXIT_CODES = {"true": 0, "false": 1, "unknown": 3}


def where(place: Place | None) -> str:
    if place is None or not place.file:
        return "?"
    return f"{place.file}:{place.line}" if place.line > 0 else place.file


def main_place(violation: Violation) -> Place | None:
    """The place to show first; for a deadlock where the first thread of the cycle waits."""
    known = [item.place for item in violation.waiting]
    known.append(violation.place)
    known += [item.place for item in violation.accesses]
    return next((place for place in known if place is not None and place.file), None)


def row(item: Row, inputs: list[str]) -> str:
    """What a row does, without its thread and place; `inputs` are phrases."""
    notes = [
        f"{entry.name} is {entry.value}" if entry.read else f"{entry.name} = {entry.value}"
        for entry in item.changes
    ]
    notes += inputs
    if item.branch is not None:
        notes.append(f"condition is {'true' if item.branch else 'false'}")
    if item.operation is not None:
        notes.append(operation_phrase(item.operation))
    if item.entered:
        notes.append(f"enters {item.entered}")
    text = one_line(item.place.text)
    told = f"{text} [{'; '.join(notes)}]" if notes else text
    return one_line(told) or "a step"


def access(result: Result, item: Access) -> str:
    """One of the two accesses of a race, and the locks that are held."""
    return "; ".join(access_phrases(result, item)[:2])
