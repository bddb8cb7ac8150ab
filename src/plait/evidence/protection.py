"""Which lock protects which variable, as a proof for any number of threads says it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from plait.evidence.result import Invariant

_WORD = re.compile(r"[A-Za-z_]\w*")


def protected_by(invariants: Iterable[Invariant]) -> Iterator[str]:
    """A line for each variable on which threads rely only while they hold a lock: `text` mentions
    it at places with that lock only. What just one function mentions may be a local."""
    locks: dict[str, set[str]] = {}
    functions: dict[str, set[str]] = {}
    every = [item for item in invariants if item.role]
    held = {lock for item in every for lock in item.holding.split(", ") if lock}
    for item in every:
        own = {lock for lock in item.holding.split(", ") if lock}
        for word in set(_WORD.findall(item.text)) - held:
            locks[word] = locks[word] & own if word in locks else own
            functions.setdefault(word, set()).add(item.place.function)
    for word, common in sorted(locks.items()):
        if common and len(functions[word]) > 1:
            yield f"{' and '.join(sorted(common))}: only who holds it relies on {word}"
