"""A trace as text: one column for each thread, context switches marked, and why it fails.

What only concerns one thread is left out unless everything is asked for. Where columns would become
too narrow to read, rows are listed below each other with the thread's number in front.
"""

from __future__ import annotations

import re
import textwrap

from plait.data import dataclass, field
from plait.evidence.result import Place, Result, Row
from plait.report.characters import clean, clean_line
from plait.report.phrases import (
    access_phrases,
    cause_phrase,
    input_phrases,
    operation_phrase,
    place_name,
    thread_name,
    waiting_phrase,
)
from plait.report.races import happened

_NARROWEST_COLUMN = 24
_MOST_CHANGES = 6
_LONGEST_CELL = 4  # lines
_INDENT = "   "
_PARTS = re.compile(r"\s+|[^\s(]*\(+|[^\s(]+")
_NEXT = "next"  # instead of a step that has not been taken
_COLOURS = (36, 33, 35, 32, 34, 31)
_MARK = ">"  # another thread goes on


class _Wrapper(textwrap.TextWrapper):
    """Breaks lines between words and behind opening brackets: C has long words without a blank."""

    def _split(self, text: str) -> list[str]:
        return _PARTS.findall(text)


@dataclass(slots=True, eq=False)
class _Entry:
    """What one thread does without a break in one line of the source."""

    thread: int
    step: int
    place: Place
    text: str
    is_switch: bool
    notes: list[str] = field(default_factory=list)
    changes: dict[str, str] = field(default_factory=dict)


def trace_lines(
    result: Result, width: int = 100, *, verbose: bool = False, colour: bool = False
) -> list[str]:
    """The trace of a result, without the verdict. What the program has in it is cleaned: with
    colours, nobody can do it later."""
    return _Page(result, width, verbose, colour).lines()


def explanation_lines(result: Result) -> list[str]:
    """What the violation is, and where it comes from."""
    violation = result.violation
    if violation is None:
        return []
    if violation.accesses:
        head = f"data race on {violation.accesses[0].name}: nothing orders these two accesses"
        lines = [head]
        for access in violation.accesses:
            first, *details = access_phrases(result, access)
            lines += [f"  {first}", *(f"    {item}" for item in details)]
    elif violation.waiting:
        lines = ["deadlock: these threads wait for ever"]
        lines += [f"  {waiting_phrase(result, item)}" for item in violation.waiting]
    else:
        who = thread_name(result, violation.thread)
        lines = [f"{place_name(violation.place)}: {violation.message} in {who}"]
        lines += [f"  {cause_phrase(result, item)}" for item in violation.causes]
    return [*lines, *_input_lines(result)]


def _input_lines(result: Result) -> list[str]:
    if not result.inputs:
        return []
    lines = ["inputs:"]
    for item in result.inputs:
        place = "" if item.place is None else f" at line {item.place.line}"
        who = thread_name(result, item.thread)
        lines.append(f"  {item.name} = {item.value} in {who}{place}, step {item.step}")
    return lines


class _Page:
    def __init__(self, result: Result, width: int, verbose: bool, colour: bool) -> None:
        self._result = result
        self._trace = happened(result)
        self._verbose = verbose
        self._colour = colour
        self._hidden = 0
        self._entries = self._merged()
        self._threads = sorted({entry.thread for entry in self._entries})
        last = max((entry.step for entry in self._entries), default=0)
        self._numbers = max(len(str(last)), 4)
        share = (width - self._numbers - 2) // max(len(self._threads), 1) - 2
        self._is_list = share < _NARROWEST_COLUMN and len(self._threads) > 1
        if self._is_list:
            self._columns = dict.fromkeys(self._threads, max(width - self._numbers - 8, 40))
        else:
            self._columns = self._shares(share)

    def _shares(self, share: int) -> dict[int, int]:
        """The same for every thread, as far as no identifier has to be broken for that."""
        needed = dict.fromkeys(self._threads, _NARROWEST_COLUMN)
        for entry in self._entries:
            words = _PARTS.findall(" ".join(self._texts(entry)))
            longest = max(map(len, words), default=0) + len(_INDENT) + 1
            needed[entry.thread] = max(needed[entry.thread], longest)
        columns = dict.fromkeys(self._threads, share)
        for thread in sorted(self._threads, key=lambda item: needed[item]):
            for other in self._threads:
                spare = max(columns[other] - needed[other], 0)
                moved = min(max(needed[thread] - columns[thread], 0), spare)
                columns[thread] += moved
                columns[other] -= moved
        return columns

    def lines(self) -> list[str]:
        if not self._entries:
            return []
        lines = self._head()
        for entry in self._entries:
            lines += self._shown(entry)
        switches = self._result.switches
        steps = self._trace[-1].step if self._trace else 0
        foot = f"{_count(switches, 'context switch', 'es')}, {_count(steps, 'step')}"
        if self._hidden:
            verb = "is" if self._hidden == 1 else "are"
            hidden = _count(self._hidden, "step")
            foot += f"; {hidden} that no other thread sees {verb} left out (-v)"
        return [line.rstrip() for line in [*lines, foot]]

    def _merged(self) -> list[_Entry]:
        entries: list[_Entry] = []
        hidden: set[int] = set()
        before = 0
        shown = self._shown_rows()
        named = input_phrases(self._result)
        for index, row in enumerate(self._trace):
            if index not in shown:
                hidden.add(row.step)
                continue
            last = entries[-1] if entries else None
            key = (row.thread, row.place.file, row.place.line)
            is_same = last is not None and key == (last.thread, last.place.file, last.place.line)
            if last is None or not is_same or not _overlap(row.place, last.place):
                is_switch = before not in (0, row.thread)
                last = _Entry(row.thread, row.step, row.place, _first_line(row), is_switch)
                entries.append(last)
            elif len(_first_line(row)) > len(last.text):
                last.text = _first_line(row)
            before = row.thread
            self._add(last, row, named[index])
        self._hidden = len(hidden - {entry.step for entry in entries})
        return [*entries, *self._pending()]

    def _pending(self) -> list[_Entry]:
        """The accesses of a race, both of which are next."""
        violation = self._result.violation
        accesses = [] if violation is None else violation.accesses
        return [
            _Entry(
                item.thread,
                0,
                item.place,
                item.place.text,
                is_switch=False,
                notes=[f"about to {'write' if item.write else 'read'} {item.name}"],
            )
            for item in accesses
            if item.place is not None
        ]

    def _shown_rows(self) -> set[int]:
        """What matters, and something of each turn."""
        trace = self._trace
        if not trace:
            return set()
        found = {index for index, row in enumerate(trace) if self._verbose or _matters(row)} | {
            len(trace) - 1
        }
        first = 0
        for index in range(1, len(trace) + 1):
            if index == len(trace) or trace[index].thread != trace[first].thread:
                if not found.intersection(range(first, index)):
                    found.add(first)
                first = index
        return found

    def _add(self, entry: _Entry, row: Row, inputs: list[str]) -> None:
        if row.operation is not None:
            entry.notes.append(operation_phrase(row.operation))
        entry.notes += inputs
        for change in row.changes:
            known = entry.changes.get(change.name, "")
            if not change.read:
                was = f", was {known[3:]}" if known.startswith("is ") else ""
                entry.changes[change.name] = f"= {change.value}{was}"
            elif not known.startswith("="):
                entry.changes[change.name] = f"is {change.value}"

    def _head(self) -> list[str]:
        if self._is_list:
            return [f"{'step'.rjust(self._numbers)}  thread"]
        titles = [
            self._cell(clean_line(thread_name(self._result, thread)), thread)
            for thread in self._threads
        ]
        head = f"{'step'.rjust(self._numbers)}  " + "| ".join(titles)
        rule = "-" * (self._numbers + sum(column + 2 for column in self._columns.values()))
        return [head, rule]

    def _shown(self, entry: _Entry) -> list[str]:
        text, notes = self._texts(entry)
        parts = self._wrapped(entry, text)[:_LONGEST_CELL]
        if notes:
            parts += self._wrapped(entry, f"{_INDENT}[{notes}]")
        lines = []
        for index, part in enumerate(parts):
            label = (str(entry.step) if entry.step else _NEXT) if index == 0 else ""
            mark = _MARK if index == 0 and entry.is_switch else " "
            lines.append(f"{label.rjust(self._numbers)}{mark} {self._cells(entry, part, index)}")
        return lines

    def _wrapped(self, entry: _Entry, text: str) -> list[str]:
        indent = _INDENT + " " * text.startswith(_INDENT)
        return _Wrapper(self._columns[entry.thread], subsequent_indent=indent).wrap(text)

    def _texts(self, entry: _Entry) -> tuple[str, str]:
        """What the line says, and what is noted about it."""
        values = [f"{name} {value}" for name, value in entry.changes.items()]
        if len(values) > _MOST_CHANGES and not self._verbose:
            values = [*values[:_MOST_CHANGES], "..."]
        notes = ", ".join([*entry.notes, *values])
        return clean(f"{entry.place.line}: {entry.text}"), clean(notes)

    def _cells(self, entry: _Entry, part: str, index: int) -> str:
        if self._is_list:
            number = f"{entry.thread:>4} " if index == 0 else "     "
            return number + self._paint(part, entry.thread)
        cells = [
            self._cell(part, thread) if thread == entry.thread else " " * self._columns[thread]
            for thread in self._threads
        ]
        return "| ".join(cells)

    def _cell(self, text: str, thread: int) -> str:
        column = self._columns[thread]
        return self._paint(_fit(text, column).ljust(column), thread)

    def _paint(self, text: str, thread: int) -> str:
        if not self._colour:
            return text
        return f"\x1b[{_COLOURS[(thread - 1) % len(_COLOURS)]}m{text}\x1b[0m"


def _matters(row: Row) -> bool:
    """Whether other threads can notice it, or it is what an outcome depends on."""
    return (
        row.operation is not None
        or bool(row.inputs)
        or any(change.shared for change in row.changes)
    )


def _first_line(row: Row) -> str:
    """Text of a place that spans several lines would hide where it is."""
    return row.place.text if row.place.end_line in (0, row.place.line) else _head_of(row.place.text)


def _head_of(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."


def _overlap(one: Place, other: Place) -> bool:
    """Whether two ranges of one line are parts of the same statement."""
    return all(
        first.column < second.end_column or second.end_column == 0 or second.end_line > first.line
        for first, second in ((one, other), (other, one))
    )


def _count(number: int, noun: str, plural: str = "s") -> str:
    return f"{number} {noun}{'' if number == 1 else plural}"


def _fit(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 3] + "..."
