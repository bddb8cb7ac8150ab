"""How threads, steps and places are told in one line of text."""

from __future__ import annotations

from plait.evidence.result import Access, Cause, Change, Place, Result, Row, Waiting
from plait.report.characters import one_line

EXIT_CODES = {"true": 0, "false": 1, "unknown": 3}


class Names(dict[int, str]):
    """A name for each thread, also for those that a result does not describe."""

    def __missing__(self, number: int) -> str:
        return f"thread {number}"


def thread_names(result: Result) -> Names:
    return Names(
        (item.number, one_line(f"thread {item.number} ({item.function})"))
        for item in result.threads
    )


def where(place: Place | None) -> str:
    if place is None or not place.file:
        return "?"
    return f"{place.file}:{place.line}" if place.line > 0 else place.file


def change(item: Change) -> str:
    return f"{item.name} is {item.value}" if item.read else f"{item.name} = {item.value}"


def row(item: Row) -> str:
    """What a row does, without its thread and place."""
    notes = [change(entry) for entry in item.changes]
    notes += [f"input {value}" for value in item.inputs]
    if item.branch is not None:
        notes.append(f"condition is {'true' if item.branch else 'false'}")
    if item.operation is not None and not item.operation.succeeded:
        notes.append("without success")
    if item.entered:
        notes.append(f"enters {item.entered}")
    text = one_line(item.place.text)
    told = f"{text} [{'; '.join(notes)}]" if notes else text
    return one_line(told) or "a step"


def access(item: Access, names: Names) -> str:
    kind = "writes" if item.write else "reads"
    how = f"{kind} {item.name}" + (" atomically" if item.atomic else "")
    locks = f"holding {', '.join(item.locks)}" if item.locks else "holding no lock"
    return one_line(f"{names[item.thread]} {how}, {locks}")


def waiting(item: Waiting, names: Names) -> str:
    told = f"{names[item.thread]} waits for {item.what} {item.object}".rstrip()
    if item.holders:
        told += f", which depends on {' and '.join(names[number] for number in item.holders)}"
    return one_line(told)


def cause(item: Cause, names: Names) -> str:
    told = f"{item.name} = {item.value}"
    if item.thread is None:
        return one_line(f"{told} from the beginning")
    return one_line(f"{told} is set by {names[item.thread]}")
