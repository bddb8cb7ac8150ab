"""Several questions for one engine: it takes them up in turns, which become longer, so that none
keeps the others from an easy answer, however hard it is."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from plait.portfolio.messages import OutOfTime, Result

_FIRST_SECONDS = 5.0
_FACTOR = 4.0  # an engine begins anew in each turn

Item = TypeVar("Item")
Answer = Result | OutOfTime


def in_turns(
    items: Sequence[Item], deadline: float | None, ask: Callable[[Item, float | None], Answer]
) -> Iterator[tuple[Item, Answer]]:
    """The last answer to each. `ask` is told when the turn ends. The last turns are the longest:
    if longer ones would not fit in later, all the time that is left is shared out."""
    seconds = _FIRST_SECONDS
    pending = list(items)
    while pending:
        later: list[Item] = []
        rounds = len(pending) * seconds * (1 + _FACTOR)
        is_last = deadline is not None and time.monotonic() + rounds > deadline
        for position, item in enumerate(pending):
            others = len(pending) - position - 1
            now = time.monotonic()
            if deadline is not None and is_last:
                end: float | None = now + (deadline - now) / (others + 1)
            else:
                end = now + seconds if others or later else deadline
            answer = ask(item, end)
            if isinstance(answer, OutOfTime) and end != deadline and not is_last:
                later.append(item)
            else:
                yield item, answer
        pending = later
        seconds *= _FACTOR
