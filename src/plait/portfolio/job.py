"""The work of one process, before anything heavy is imported."""

from __future__ import annotations

from dataclasses import dataclass

from plait.portfolio.options import Options
from plait.work.child import Channel, Work


@dataclass(frozen=True, slots=True)
class Job:
    """`is_first`: of all workers, this one reads the program first and says what it is like.
    `started`: when the verification began, by the monotonic clock."""

    engine: str
    is_first: bool = False
    started: float = 0.0


def work_of(options: Options, job: Job, deadline: float | None) -> Work:
    def work(channel: Channel) -> None:
        from plait.portfolio.worker import work as verify_in_worker

        verify_in_worker(options, job, deadline, channel)

    return work
