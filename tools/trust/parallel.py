"""Independent tasks on several processor cores, with the answers in the order of the tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TypeVar

Task = TypeVar("Task")
Answer = TypeVar("Answer")


def in_parallel(
    work: Callable[[Task], Answer], tasks: Iterable[Task], jobs: int
) -> Iterator[Answer]:
    if jobs <= 1:
        yield from map(work, tasks)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("fork")) as pool:
        yield from pool.map(work, tasks)
