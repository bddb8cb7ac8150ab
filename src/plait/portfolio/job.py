"""The work of one process, before anything heavy is imported."""

from __future__ import annotations

from typing import Any

from plait.data import dataclass
from plait.portfolio.options import Options
from plait.work.child import Channel, Work


@dataclass(frozen=True, slots=True)
class Job:
    """`is_first`: of all workers, this one reads the program first and says what it is like.
    `is_checked`: static checks come before the engine. `facts` are those that were proved before
    the worker was started, as rows; later ones are told (`plait.portfolio.facts`). `started`: when
    the verification began, by the monotonic clock."""

    engine: str
    is_first: bool = False
    is_checked: bool = False
    facts: tuple[dict[str, Any], ...] = ()
    started: float = 0.0


def work_of(options: Options, job: Job, deadline: float | None) -> Work:
    def work(channel: Channel) -> None:
        from plait.portfolio.worker import work as verify_in_worker

        verify_in_worker(options, job, deadline, channel)

    return work
