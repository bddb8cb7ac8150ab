"""Several questions for one engine: it takes them up in turns, which become longer, so that none
keeps the others from an easy answer, however hard it is."""

from __future__ import annotations

import math
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
    """The last answer to each. `ask` is told when the turn ends."""
    seconds = _FIRST_SECONDS
    pending = list(items)
    while pending:
        later: list[Item] = []
        for position, item in enumerate(pending):
            others = len(pending) - position - 1 + len(later)
            now = time.monotonic()
            share = math.inf if deadline is None else (deadline - now) / (others + 1)
            end = now + min(seconds, share) if others else deadline
            answer = ask(item, end)
            if isinstance(answer, OutOfTime) and others and seconds < share:
                later.append(item)
            else:
                yield item, answer
        pending = later
        seconds *= _FACTOR
