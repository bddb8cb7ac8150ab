"""Names of what is on the heap, after the words of the source.

A trace calls an object `heap1` and a part of it `heap1+4`. Where the source says `p->value` there,
and says so of nothing else in this trace, that is its name, for all threads; where `p` goes along a
list, it is `heap1->value`. What a function of the library accesses there is named after the
argument that led it there: `strncpy(p->text, ...)` writes `p->text[0]`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from plait.semantics.trace import Called, Change, Event

_LVALUE = re.compile(r"(&?)\s*([A-Za-z_][\w.]*(?:(?:->|\.)\w+|\[\w+\])*)", re.ASCII)
_FAR = 1 << 16  # objects have pages of their own, which may lie side by side
_MEMBER = re.compile(r"->\w+(?:\.\w+|\[\d+\])*\Z")


def name_heap_cells(events: Iterable[Event]) -> None:
    """Change the names in the events."""
    events = list(events)
    _spell_accesses_of_the_library(events)
    changes = [change for event in events for change in event.changes if change.spelled]
    said: dict[str, set[int]] = {}
    for change in changes:
        said.setdefault(change.spelled, set()).add(change.address)
    names: dict[int, str] = {}
    for change in changes:
        if change.address not in names and len(said[change.spelled]) == 1:
            names[change.address] = change.spelled
    taken = set(names.values())
    for change in changes:
        name = _member(change)
        if change.address not in names and name and name not in taken:
            names[change.address] = name
            taken.add(name)
    for event in events:
        for change in event.changes:
            if change.is_on_heap:
                change.name = names.get(change.address, change.name)


def _spell_accesses_of_the_library(events: list[Event]) -> None:
    calls: dict[int, Called] = {}  # by thread: the last one in the user's code
    for event in events:
        if event.called is not None and event.caller is None:
            calls[event.thread] = event.called
        if event.caller is None or event.thread not in calls:
            continue
        for change in event.changes:
            if change.is_on_heap and not change.spelled and change.size:
                change.spelled = _cell_of_argument(calls[event.thread], change)


def _cell_of_argument(called: Called, change: Change) -> str:
    """What the source would call it; nothing if no argument leads to that object."""
    best, spelled = -1, ""
    if len(called.texts) != len(called.places):
        return ""
    for (address, _), text in zip(called.places, called.texts, strict=True):
        lvalue = _LVALUE.fullmatch(text)
        offset = change.address - address
        if not address or lvalue is None or not 0 <= offset < _FAR or address < best:
            continue
        if lvalue[1] and offset == 0:
            best, spelled = address, lvalue[2]
        elif not lvalue[1] and offset % change.size == 0:
            best, spelled = address, f"{lvalue[2]}[{offset // change.size}]"
    return spelled


def _member(change: Change) -> str:
    found = _MEMBER.search(change.spelled)
    return "" if found is None else change.name.split("+")[0] + found[0]
