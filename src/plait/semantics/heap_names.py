"""Names of what is on the heap, after the words of the source.

A trace calls an object `heap1` and a part of it `heap1+4`. Where the source says `p->value` there,
and says so of nothing else in this trace, that is its name, for all threads; where `p` goes along a
list, it is `heap1->value`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from plait.semantics.trace import Change, Event

_MEMBER = re.compile(r"->\w+(?:\.\w+|\[\d+\])*\Z")


def name_heap_cells(events: Iterable[Event]) -> None:
    """Change the names in the events."""
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


def _member(change: Change) -> str:
    found = _MEMBER.search(change.spelled)
    return "" if found is None else change.name.split("+")[0] + found[0]
