"""Several questions for one engine: it takes them up in turns, which become longer, so that none
keeps the others from an easy answer, however hard it is."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar

from plait.data import dataclass
from plait.portfolio.messages import OutOfTime, Result

_FIRST_SECONDS = 5.0
_FACTOR = 4.0  # an engine begins anew in each turn

Item = TypeVar("Item")
Reply = Result | OutOfTime


@dataclass(slots=True, eq=False)
class _Pending(Generic[Item]):
    item: Item
    answer: Reply | None = None
    seconds: float = 0.0  # of the longest turn, which was not enough
    turns: int = 0


def ask_in_turns(
    items: Sequence[Item], deadline: float | None, ask: Callable[[Item, float | None], Reply]
) -> Iterator[tuple[Item, Reply]]:
    """The last answer to each. `ask` is told when the turn ends. Each turn of a question is longer
    than those before, which would otherwise be in vain."""
    queue = [_Pending(item) for item in items]
    while queue:
        now = time.monotonic()
        left = math.inf if deadline is None else deadline - now
        hopeful = _hopeful(queue, left)
        if not hopeful:
            break
        current = hopeful[0]
        queue.remove(current)
        end = deadline
        if len(hopeful) > 1:
            current.seconds = _length(current, left, len(hopeful))
            end = now + current.seconds
        current.turns += 1
        current.answer = ask(current.item, end)
        if isinstance(current.answer, OutOfTime) and end != deadline:
            queue.append(current)
        else:
            yield current.item, current.answer
    for pending in queue:
        yield pending.item, pending.answer or ask(pending.item, deadline)


def _hopeful(queue: list[_Pending[Item]], left: float) -> list[_Pending[Item]]:
    """Those for which there is more time than they had before, if that is shared out."""
    hopeful = list(queue)
    while hopeful:
        share = left / len(hopeful)
        kept = [pending for pending in hopeful if pending.seconds < share]
        if len(kept) == len(hopeful):
            break
        hopeful = kept
    if hopeful:
        return hopeful
    least = min(queue, key=lambda pending: pending.seconds)
    return [least] if least.seconds < left else []


def _length(pending: _Pending[Item], left: float, number: int) -> float:
    """After short turns for all, the last ones are as long as they can be."""
    share = left / number
    seconds = _FIRST_SECONDS * _FACTOR**pending.turns
    if pending.turns and number * seconds * (1 + _FACTOR) > left:
        return share
    return min(seconds, share)
